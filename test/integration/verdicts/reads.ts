/** Reads that fail in real ways. The rules about them are tested in test/sim/rules/answers/reads.ts. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { RunResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/hosting/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSING_READ_FAILURES } from '../../support/fault-answers.ts';
import { began, reads } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { startWorkerProcess } from '../../support/processes.ts';
import { replayLater } from '../../support/replay.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { belayOn, fresh, startTestStack, temporalEnv, TOKEN, workerLog, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 10 };
/** Ends late enough for reads to fail first. */
const SOON: ScriptPart = { durationMs: 3_000 };

let world: TestStack;
let workerOutput = '';
before(async () => {
  world = await startTestStack();
});

type Kind = 'backup' | 'deployment';
type Read = Pick<Fault, 'answer' | 'times'>;

/** Starts an operation, injects these faults into its reads, and waits for its result. */
async function waited(kind: Kind, faults: readonly Read[]): Promise<RunResult> {
  const { run, route, target } = await (kind === 'backup' ? backUp : deploy)();
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route, target })));
  return resultOf(run);
}

async function backUp() {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, SOON);
  const run = await world.belay.start({ serverId, siteIds: [], backup: PACE });
  const entry = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
  const target = entry.began!.id;
  return { run, route: 'backup', target } as const;
}

async function deploy() {
  const target = siteAfter(world.sandbox, FAILED, SOON);
  const run = await world.belay.start({ siteIds: [target], deploy: PACE });
  await eventually('the deployment', () => began(world.sandbox, 'deployment', target)[0]);
  return { run, route: 'latest', target } as const;
}

// Most of them wait. More at once, and a busy machine makes too few reads in the time for which failed ones are tried.
describe('failed reads', { concurrency: 8 }, () => {
  for (const kind of ['backup', 'deployment'] as const) {
    test(`reads of a ${kind} that fail in nine ways are repeated until it completes`, async () => {
      const result = await waited(kind, PASSING_READ_FAILURES);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });

    test(`reads of a ${kind} that hang are repeated until it completes`, async () => {
      const result = await waited(kind, [{ answer: { kind: 'none' }, times: 2 }]);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });
  }
});

const NEXT_TOKEN = 'canary-of-tomorrow';

test('a token replaced during the wait for a backup takes effect, with one backup and one deployment', async () => {
  const [serverId, file, queue] = [fresh('s'), join(await tempFolder(), 'token'), fresh('queue')];
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  await writeFile(file, `${TOKEN}\n`);
  const env = { ...temporalEnv(world), BELAY_API_URL: world.sandbox.url, BELAY_TASK_QUEUE: queue };
  const worker = await startWorkerProcess({ ...env, BELAY_API_TOKEN_FILE: file });
  const belay = await belayOn(world, queue);
  world.sandbox.script({ server: serverId }, { durationMs: 3_000 });
  const pace = { intervalMs: 500, tries: 60 };
  const run = await belay.start({ serverId, siteIds: [siteId], backup: pace, deploy: pace });
  const entry = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
  world.sandbox.setToken(NEXT_TOKEN);
  const path = `/v1/backups/${entry.began!.id}`;
  await eventually('two refused reads', () => reads(world.sandbox, path).filter((it) => !it.authorized).length > 1);
  await writeFile(file, `${NEXT_TOKEN}\n`);
  const { outcome, error } = await resultOf(run);
  assert.equal(outcome, 'completed', error?.message);
  assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  workerOutput = worker.output.stderr + worker.output.stdout;
});

test('neither token is in any history, log or error of these tests', async () => {
  const logs = { 'worker log': workerLog(), 'log of the process': workerOutput };
  const texts = { ...(await allHistories(world.client)), ...logs, 'results and errors': SAID.join() };
  for (const token of [TOKEN, NEXT_TOKEN]) assertNowhere(token, texts, 'polling');
});

replayLater('failed reads', () => world.client, 11);
