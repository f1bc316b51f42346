/** What a `belay dev` notes in its home folder: that the folder is taken, and where its Temporal is. */
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listens } from './choose-port.ts';

export interface DevNote {
  pid: number;
  /** Null until it is ready. */
  temporal: string | null;
  ui: string | null;
}

const fileIn = (home: string) => join(home, 'dev.json');
const textOf = (note: DevNote) => `${JSON.stringify(note)}\n`;

/** Takes the folder for this process. @returns null, or the note of the one that has it */
export async function claimHome(home: string): Promise<DevNote | null> {
  await mkdir(home, { recursive: true });
  // Written first and linked then: nobody sees half of it, and one of two at once is refused.
  const draft = `${fileIn(home)}.${process.pid}`;
  await writeFile(draft, textOf({ pid: process.pid, temporal: null, ui: null }));
  try {
    for (;;) {
      if (await linked(draft, fileIn(home))) return null;
      const text = await readFile(fileIn(home), 'utf8').catch(() => '');
      const note = runningNote(text);
      if (note !== null && (await isRunning(note))) return note;
      await takeAway(home, text);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes what one that was killed left behind, and nothing that came in its place. */
async function takeAway(home: string, text: string): Promise<void> {
  const aside = `${fileIn(home)}.${process.pid}.left`;
  try {
    await rename(fileIn(home), aside);
  } catch {
    return;
  }
  if ((await readFile(aside, 'utf8')) !== text) await linked(aside, fileIn(home));
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

export async function writeNote(home: string, note: DevNote): Promise<void> {
  await writeFile(fileIn(home), textOf(note));
}

export async function removeNote(home: string): Promise<void> {
  if (readNote(home)?.pid === process.pid) await rm(fileIn(home), { force: true });
}

/** Null where no `belay dev` runs. */
export function readNote(home: string): DevNote | null {
  try {
    return runningNote(readFileSync(fileIn(home), 'utf8'));
  } catch {
    return null;
  }
}

/** Null for the note of a process that is gone. */
function runningNote(text: string): DevNote | null {
  try {
    const note = JSON.parse(text) as DevNote;
    process.kill(note.pid, 0);
    return note;
  } catch {
    return null;
  }
}

/** The number of a process that is gone may be somebody else's by now; in a container it often is. */
async function isRunning({ pid, temporal }: DevNote): Promise<boolean> {
  if (pid === process.pid) return false;
  return temporal === null || listens(Number(temporal.split(':').pop()));
}
