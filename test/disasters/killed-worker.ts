/** A worker is killed again and again while it has requests and reads in progress. */
import { setTimeout as sleep } from 'node:timers/promises';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';

const RUNS = 40;
const KILLS = 4;

export async function killedWorker(): Promise<string> {
  const stage = await openStage();
  const running = await stage.deploy(RUNS);
  await inFlight(stage, running);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(3_000);
    await stage.worker.down('SIGKILL', 500);
    await stage.worker.ready();
  }
  finish(stage, running);
  await completedOnce(stage, running);
  return `${RUNS} runs survived ${KILLS} kills`;
}
