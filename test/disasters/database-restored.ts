/** Temporal's database is restored from a copy that is older than a request. Another epoch keeps it from being repeated. */
import assert from 'node:assert/strict';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { superviseWorker } from '../model/workers.ts';
import { CLI } from '../support/processes.ts';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { posts, reads } from '../support/journal.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { resultOf } from '../support/outcome.ts';
import { startTemporal, tempFolder } from '../support/temporal.ts';
import { openStage } from './stage.ts';

const SITE = 'restored';
const PACE = { intervalMs: 500, tries: 600 };

export async function databaseRestored(): Promise<string> {
  // A folder of its own, because SQLite keeps part of the database in files beside it.
  const [folder, copy] = [join(await tempFolder(), 'database'), join(await tempFolder(), 'copy')];
  await mkdir(folder);
  const database = { dbFile: join(folder, 'temporal.db'), port: await lastingPort() };
  let server = await startTemporal(database);
  const stage = await openStage({ address: server.address, namespace: 'default' });
  const { sandbox, belay, worker, env } = stage;
  const sent = () => posts(sandbox, `/v1/sites/${SITE}/deploy`).length;

  // It waits for another party's deployment before its request.
  sandbox.script({ site: SITE }, { ends: 'never' }, { durationMs: 1_000, ends: 'completed' });
  sandbox.act({ site: SITE });
  const run = await belay.start({ siteIds: [SITE], deploy: PACE });
  await eventually('its reads', () => reads(sandbox, `/v1/sites/${SITE}/deployments/latest`).length > 4);
  await server.stop();
  await cp(folder, copy, { recursive: true });
  server = await startTemporal(database);
  sandbox.finish({ site: SITE }, 'failed');
  assert.equal((await resultOf(run)).outcome, 'completed');
  assert.equal(sent(), 1);

  await worker.close();
  await server.stop();
  await rm(folder, { recursive: true });
  await cp(copy, folder, { recursive: true });
  await startTemporal(database);
  const next = superviseWorker(CLI, { ...env, BELAY_EPOCH: new Date().toISOString() });
  atEnd(() => next.close());
  const restored = await resultOf(run);
  assert.deepEqual([restored.outcome, restored.error?.type, sent()], ['unknown', 'OutcomeUnknown', 1]);
  return 'a run from before its request sent nothing a second time';
}
