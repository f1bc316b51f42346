/** The disk of PostgreSQL is full while runs are in flight, until space is freed. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { MissingProgram } from '../support/missing-program.ts';
import { productionPlace } from './production-place.ts';
import { completedOnce, finish, inFlight, openStage, type Stage } from './stage.ts';

const run = promisify(execFile);
const DISK = '400m';
const FULL_FOR_MS = 60_000;
const CHUNK = Buffer.alloc(1_000_000);

/** A small file system of its own. @throws MissingProgram if this user may not mount one */
async function mountDisk(home: string): Promise<void> {
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', home]).catch(() => {
    throw new MissingProgram('a small disk cannot be mounted: run this as root');
  });
  atEnd(() => run('umount', ['--lazy', home]));
}

/** @returns the file that takes the space */
async function fill(home: string): Promise<string> {
  const ballast = join(home, 'ballast');
  for (;;) {
    try {
      await writeFile(ballast, CHUNK, { flag: 'a' });
    } catch {
      return ballast;
    }
  }
}

/** Temporal can store nothing more once a table has to grow. */
const canStart = ({ deploy }: Stage): Promise<boolean> =>
  deploy(5).then(
    () => true,
    () => false,
  );

export async function fullDisk(): Promise<string> {
  const { place, database } = await productionPlace(mountDisk);
  const stage = await openStage(place);
  const running = await stage.deploy(5);
  await inFlight(stage, running);
  const ballast = await fill(database.home);
  await eventually('a start that fails', async () => !(await canStart(stage)));
  await sleep(FULL_FOR_MS);
  await rm(ballast);
  await database.stop();
  await database.restart();
  await eventually('a start that works', () => canStart(stage));
  finish(stage, running);
  await completedOnce(stage, running);
  return `${running.length} runs went on after the disk of PostgreSQL was full for a minute`;
}
