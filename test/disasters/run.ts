/**
 * `npm run test:all -- disasters`: plays the disasters of docs/how-to/operate.md for real, side by side, which takes a
 * quarter of an hour. After `npm run build`, `npx tsx test/disasters/run.ts NAME …` plays only these. Exits 75 if
 * PostgreSQL or Go is missing.
 */
import pMap from 'p-map';
import { endAll, endOnSignals } from '../support/at-end.ts';
import { EXIT_MISSING, MissingProgram } from '../support/missing-program.ts';
import { brokenWorkers } from './broken-image.ts';
import { databaseAway } from './database-away.ts';
import { databaseRestored } from './database-restored.ts';
import { floodedReceiver } from './flooded-receiver.ts';
import { fullDisk } from './full-disk.ts';
import { killedWorker } from './killed-worker.ts';
import { revokedToken } from './revoked-token.ts';
import { serviceGone } from './service-gone.ts';

const DISASTERS: Record<string, () => Promise<string>> = {
  'service-gone': serviceGone,
  'database-away': databaseAway,
  'full-disk': fullDisk,
  'database-restored': databaseRestored,
  'killed-worker': killedWorker,
  'revoked-token': revokedToken,
  'broken-image': brokenWorkers,
  'flooded-receiver': floodedReceiver,
};
const AT_ONCE = { concurrency: 2 };

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in DISASTERS));
if (unknown.length > 0)
  throw new Error(`no such disaster: ${unknown.join(', ')}; write ${Object.keys(DISASTERS).join(', ')}`);
const names = asked.length === 0 ? Object.keys(DISASTERS) : asked;
const beganMs = Date.now();
let exitCode = 0;

function report(name: string, line: string): void {
  process.stdout.write(`${((Date.now() - beganMs) / 1_000).toFixed(0).padStart(4)} s  ${name}: ${line}\n`);
}

async function play(name: string): Promise<void> {
  try {
    report(name, await DISASTERS[name]!());
  } catch (error) {
    exitCode = error instanceof MissingProgram && exitCode !== 1 ? EXIT_MISSING : 1;
    report(name, error instanceof MissingProgram ? error.message : `failed: ${(error as Error).stack}`);
  }
}

endOnSignals();
await pMap(names, play, AT_ONCE);
await endAll();
process.exit(exitCode);
