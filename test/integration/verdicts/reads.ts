import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { BackupResult, DeploymentResult, RunResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/hosting/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { startWorkerProcess } from '../../support/processes.ts';
import { replayAll } from '../../support/replay.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { belayOn, fresh, startWorld, TOKEN, workerLog, type World } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 10 };
/** Late enough for its reads to fail before. */
const SOON: ScriptPart = { durationMs: 3_000 };
const NEVER: ScriptPart = { ends: 'never', words: ['running'] };

let world: World;
let workerOutput = '';
before(async () => {
  world = await startWorld();
});

type Kind = 'backup' | 'deployment';
type Read = Pick<Fault, 'answer' | 'times'>;
const status = (code: number, retryAfter?: string): Read => ({
  answer: { kind: 'status', code, ...(retryAfter === undefined ? {} : { retryAfter }) },
});
const body = (type: string, text: string): Read => ({ answer: { kind: 'body', code: 200, type, text } });

/** Every way a read fails that may do better the next time. */
const NINE: Read[] = [
  status(408),
  status(429),
  status(500),
  status(503, '1'),
  status(404),
  body('text/html', '<html>log in</html>'),
  body('application/json', '{"state":"completed"}'),
  { answer: { kind: 'reset' } },
  { answer: { kind: 'cut' } },
];

interface Waited {
  result: RunResult;
  part: BackupResult | DeploymentResult;
  /** So many of its reads failed as they were told to. */
  failed: number;
}

/** Waits for one whose reads fail so once it was started. */
async function waited(kind: Kind, script: ScriptPart, faults: Read[], pace = PACE): Promise<Waited> {
  const { run, route, target, path } = await (kind === 'backup' ? backUp : deploy)(script, pace);
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route, target })));
  const result = await resultOf(run);
  const part = kind === 'backup' ? result.backup! : result.deployments[0]!;
  return { result, part, failed: reads(world.sandbox, path).filter(({ fault }) => fault !== null).length };
}

async function backUp(script: ScriptPart, backup: typeof PACE) {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, script);
  const run = await world.belay.start({ serverId, siteIds: [], backup });
  const entry = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
  const target = entry.began!.id;
  return { run, route: 'backup', target, path: `/v1/backups/${target}` } as const;
}

async function deploy(script: ScriptPart, pace: typeof PACE) {
  const target = siteAfter(world.sandbox, FAILED, script);
  const run = await world.belay.start({ siteIds: [target], deploy: pace });
  await eventually('the deployment', () => began(world.sandbox, 'deployment', target)[0]);
  return { run, route: 'latest', target, path: `/v1/sites/${target}/deployments/latest` } as const;
}

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('reads that fail', { concurrency: 24 }, () => {
  for (const kind of ['backup', 'deployment'] as const) {
    test(`nine failed reads in a row of a ${kind} cost no try`, async () => {
      const { result, part, failed } = await waited(kind, NEVER, [{ ...status(503), times: 9 }]);
      assert.equal(result.outcome, 'timed_out');
      assert.equal(failed, 9);
      assert.ok(part.polls >= PACE.tries);
    });

    test(`the tenth failed read in a row of a ${kind} ends unknown`, async () => {
      const { result } = await waited(kind, NEVER, [{ ...status(503), times: 99 }]);
      assert.equal(result.outcome, 'unknown');
      assert.equal(result.error?.type, 'OutcomeUnknown');
      assert.match(result.error?.message ?? '', /10 reads in a row failed.*503/);
    });

    test(`reads of a ${kind} that fail in nine ways are made again, and it completes`, async () => {
      const { result } = await waited(kind, SOON, NINE);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });

    test(`reads of a ${kind} that hang are made again, and it completes`, async () => {
      const { result } = await waited(kind, SOON, [{ answer: { kind: 'none' }, times: 2 }]);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });

    test(`a Retry-After beyond the whole time of a ${kind} ends unknown at once`, async () => {
      const { result } = await waited(kind, NEVER, [{ ...status(429, '3600'), times: 99 }]);
      assert.equal(result.outcome, 'unknown');
      assert.match(result.error?.message ?? '', /429/);
    });

    test(`a token refused for good while a ${kind} is waited for ends unknown, Refused`, async () => {
      const { result } = await waited(kind, NEVER, [{ ...status(401), times: 99 }], { intervalMs: 1_000, tries: 2 });
      assert.equal(result.outcome, 'unknown');
      assert.equal(result.error?.type, 'Refused');
    });

    test(`a token refused for ten reads of a ${kind} costs no try, and it goes on`, async () => {
      const { result } = await waited(kind, SOON, [{ ...status(403), times: 12 }]);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });
  }

  test('a site deleted while its deployment is waited for ends unknown after ten reads', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, NEVER);
    const run = await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, tries: 60 } });
    await eventually('its deployment', () => began(world.sandbox, 'deployment', siteId)[0]);
    world.sandbox.remove({ site: siteId });
    const { outcome, error } = await resultOf(run);
    assert.equal(outcome, 'unknown');
    assert.match(error?.message ?? '', /10 reads in a row failed.*404/);
  });

  test('a baseline that cannot be read ten times in a row: not started, nothing triggered', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    world.sandbox.fault({ ...status(503), route: 'latest', target: siteId, times: 99 });
    const { outcome, error } = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 0);
  });

  for (const code of [400, 401, 403]) {
    test(`the check of a site answered ${code}: not started, no backup is made`, async () => {
      const [serverId, siteId] = [fresh('s'), siteAfter(world.sandbox, FAILED, COMPLETED)];
      world.sandbox.fault({ ...status(code), route: 'latest', target: siteId, times: 99 });
      const { outcome, error } = await resultOf(await world.belay.start({ serverId, siteIds: [siteId] }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
      assert.equal(began(world.sandbox, 'backup', serverId).length, 0);
    });
  }
});

const NEXT_TOKEN = 'canary-of-tomorrow';

test('a token swapped while a backup is waited for goes on: one backup, one deployment, completed', async () => {
  const [serverId, file, queue] = [fresh('s'), join(await tempFolder(), 'token'), fresh('queue')];
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  await writeFile(file, `${TOKEN}\n`);
  const env = { TEMPORAL_ADDRESS: world.address, BELAY_API_URL: world.sandbox.url, BELAY_TASK_QUEUE: queue };
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

test('neither token is in a history, log or error of these tests', async () => {
  const logs = { 'worker log': workerLog(), 'log of the process': workerOutput };
  const texts = { ...(await allHistories(world.client)), ...logs, 'results and errors': SAID.join() };
  for (const token of [TOKEN, NEXT_TOKEN]) assertNowhere(token, texts, 'polling');
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 20);
});
