import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { deploySiteId } from '../../../src/contract/ids.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import type { Belay, Run } from '../../../src/starter.ts';
import { postEvents, startTestTemporal, workerProcess } from '../../support/around-post.ts';
import { atEnd } from '../../support/at-end.ts';
import { cutBySignal } from '../../support/cut-egress.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { once } from '../../support/once.ts';
import { resultOf } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { tempFolder } from '../../support/temporal.ts';
import { addWorker, belayOn, fresh, TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 60 };
const RUNS = 6;

let world: TestStack;
before(async () => {
  world = await startTestTemporal();
});

/** Two good workers, for all tests: a process is needed only for what spoils one. These cost a third of it. */
const goodWorkers = once(async () => {
  const queue = fresh('queue');
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: 3_000 } } });
  atEnd(() => sandbox.close());
  const current = { token: TOKEN };
  const token = () => Promise.resolve(current.token);
  for (let good = 0; good < 2; good += 1) await addWorker(world, queue, sandbox.url, {}, { token });
  const setToken = (next: string) => {
    current.token = next;
    sandbox.setToken(next);
  };
  return { queue, sandbox, setToken };
});

/** A process that is first spoilt by its token, then by its network: between these, it is good. */
const badWorker = once(async () => {
  const { queue, sandbox } = await goodWorkers();
  const file = join(await tempFolder(), 'token');
  await writeFile(file, TOKEN);
  const token = { BELAY_API_TOKEN: '', BELAY_API_TOKEN_FILE: file };
  const worker = await workerProcess(queue, { BELAY_API_URL: sandbox.url, ...token, ...cutBySignal(sandbox.url) });
  const rests = () => worker.output.stderr.split('takes no activities').length - 1;
  return { worker, rests, giveToken: (next: string) => writeFile(file, next) };
});

interface Started {
  siteId: string;
  run: Run;
}

async function startRuns(belay: Belay, sandbox: Sandbox, count: number): Promise<Started[]> {
  const targets = Array.from({ length: count }, () => [fresh('s'), siteAfter(sandbox, FAILED, COMPLETED)] as const);
  return Promise.all(
    targets.map(async ([serverId, siteId]) => {
      const run = await belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
      // A run that a bad worker ends before its backup is found by its result.
      await Promise.race([eventually('the backup', () => began(sandbox, 'backup', serverId)[0]), resultOf(run)]);
      return { siteId, run };
    }),
  );
}

/** Half of the runs wait for their backups, some of them held by the worker, when it becomes unfit. */
async function assertAllCompleted(queue: string, sandbox: Sandbox, spoil: () => unknown): Promise<void> {
  const belay = await belayOn(world, queue);
  const early = await startRuns(belay, sandbox, RUNS / 2);
  spoil();
  const all = [...early, ...(await startRuns(belay, sandbox, RUNS / 2))];
  const ends = await Promise.all(all.map(({ run }) => resultOf(run)));
  const failures = ends.filter(({ outcome }) => outcome !== 'completed').map(({ error }) => error?.message);
  assert.deepEqual(failures, []);
  for (const { siteId } of all) assert.equal(began(sandbox, 'deployment', siteId).length, 1);
}

describe('a worker that is unfit', { concurrency: 1 }, () => {
  test('beside two good workers, one with a stale token spoils none of six runs', async () => {
    const { queue, sandbox, setToken } = await goodWorkers();
    const { worker, rests, giveToken } = await badWorker();
    await assertAllCompleted(queue, sandbox, () => setToken('canary-of-tomorrow'));
    await eventually('its rest', () => rests() > 0);
    await giveToken('canary-of-tomorrow');
    await eventually('the end of its rest', () => worker.output.stderr.includes('takes activities again'));
  });

  test('beside two good workers, one without egress spoils none of six runs', async () => {
    const { queue, sandbox } = await goodWorkers();
    const { worker, rests } = await badWorker();
    const before = rests();
    await assertAllCompleted(queue, sandbox, () => worker.process.kill('SIGUSR2'));
    await eventually('its rest', () => rests() > before);
    worker.process.kill('SIGTERM');
    await worker.finished;
  });

  test('a POST that is refused to one worker is made by another', async () => {
    const { queue, sandbox } = await goodWorkers();
    const belay = await belayOn(world, queue);
    const siteId = siteAfter(sandbox, FAILED, COMPLETED);
    sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'status', code: 401 } });
    const { outcome, error } = await resultOf(await belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.equal(outcome, 'completed', error?.message);
    const { events, isOfPost } = await postEvents(deploySiteId(siteId));
    const made = events.flatMap(({ activityTaskStartedEventAttributes: it }) => (isOfPost(it) ? [it?.identity] : []));
    assert.ok(made.length >= 2);
    assert.notEqual(made.at(-1), made[0]);
  });
});
