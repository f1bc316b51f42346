/** PostgreSQL is stopped for two minutes while runs are in flight. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';
import { productionPlace } from './production-place.ts';

const AWAY_FOR_MS = 120_000;

export async function databaseAway(): Promise<string> {
  const { place, database } = await productionPlace();
  const stage = await openStage(place);
  const running = await stage.deploy(5);
  await inFlight(stage, running);
  await database.stop();
  await sleep(AWAY_FOR_MS);
  // A worker that ended would have no metrics: liveness depends on nothing outside.
  assert.notEqual(await stage.metric('belay_build_info'), null);
  await database.restart();
  finish(stage, running);
  await completedOnce(stage, running);
  return `${running.length} runs went on after two minutes without PostgreSQL`;
}
