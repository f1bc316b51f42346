/** The record that `belay dev` keeps in its home folder. It claims the folder and holds the address of its Temporal. */
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { listens } from './ports.ts';
import { type DevServerRecord, recordFile, readDevServerRecord, runningRecord } from '../config/dev-server-record.ts';

const textOf = (record: DevServerRecord) => `${JSON.stringify(record)}\n`;

/** Claims the folder for this process. @returns null, or the record of the process that has it already */
export async function claimHome(home: string): Promise<DevServerRecord | null> {
  // Its database holds every run, and its record is trusted.
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Write, then link: no reader sees half a file, and of two processes at once only one succeeds.
  const draft = `${recordFile(home)}.${process.pid}`;
  // It will hold the token of the sandbox.
  await writeFile(draft, textOf({ pid: process.pid, temporal: null, ui: null }), { mode: 0o600 });
  try {
    for (;;) {
      if (await linked(draft, recordFile(home))) return null;
      const text = await readFile(recordFile(home), 'utf8').catch(() => '');
      const record = runningRecord(text);
      if (record !== null && (await isRunning(record))) return record;
      await removeStale(home, text);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes the record of a killed process, unless a new one has replaced it in the meantime. */
async function removeStale(home: string, text: string): Promise<void> {
  const aside = `${recordFile(home)}.${process.pid}.left`;
  try {
    await rename(recordFile(home), aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== text) await linked(aside, recordFile(home));
  await rm(aside, { force: true });
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export async function writeDevServerRecord(home: string, record: DevServerRecord): Promise<void> {
  await writeFile(recordFile(home), textOf(record));
}

export async function removeDevServerRecord(home: string): Promise<void> {
  if (readDevServerRecord(home)?.pid === process.pid) await rm(recordFile(home), { force: true });
}

/** Checks the port as well, because another process may have the PID by now; in a container it often does. */
async function isRunning({ pid, temporal }: DevServerRecord): Promise<boolean> {
  if (pid === process.pid) return false;
  return temporal === null || listens(Number(temporal.split(':').pop()));
}
