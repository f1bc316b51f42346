/** What a running `belay dev` notes in its home folder, so that other commands find its Temporal. */
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface DevNote {
  pid: number;
  temporal: string;
  ui: string | null;
}

const FILE = 'dev.json';

export async function writeNote(home: string, note: DevNote): Promise<void> {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, FILE), `${JSON.stringify(note)}\n`);
}

export async function removeNote(home: string): Promise<void> {
  await rm(join(home, FILE), { force: true });
}

/** Null where no `belay dev` runs: one that was killed leaves its note behind. */
export function readNote(home: string): DevNote | null {
  try {
    const note = JSON.parse(readFileSync(join(home, FILE), 'utf8')) as DevNote;
    process.kill(note.pid, 0);
    return note;
  } catch {
    return null;
  }
}
