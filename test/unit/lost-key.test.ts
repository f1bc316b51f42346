/** What cannot be decoded of one workflow does not fail a command that shows many, and is named. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter, RetryState } from '@temporalio/common';
import { newestCompletedBackup } from '../../src/client/lookups/backups.ts';
import { acceptsSignals } from '../../src/client/lookups/signals.ts';
import { listRuns } from '../../src/client/runs/list-runs.ts';
import type { Session } from '../../src/client/session.ts';
import { backupServerId, lockIdOf, operationIdOf } from '../../src/contract/ids.ts';
import { emptyBackup, emptyDeployment, emptyRollout } from '../../src/contract/results.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { plainCodec } from '../../src/encryption/payload-codec.ts';
import { unreadableIn } from '../../src/features/advice/actions.ts';
import { createAdvise } from '../../src/features/advice/client.ts';
import { findUndecided } from '../../src/features/doctor/after-restore.ts';
import { adHocEntry } from '../../src/features/freezes/actions.ts';
import { createFreezes, findFreezes, leftOfOverride } from '../../src/features/freezes/client.ts';
import { createReceipts } from '../../src/features/receipts/client.ts';
import { statusOfRollout } from '../../src/features/rollouts/client-handle.ts';
import { createRollouts } from '../../src/features/rollouts/client.ts';
import { firingOf } from '../../src/features/schedules/client-state.ts';
import { lost, LOST_PAYLOADS, WHY_LOST } from '../support/lost-key.ts';

const NOW = new Date('2026-11-27T12:00:00Z');

/** What Temporal lists and answers about one workflow. */
interface Kept {
  workflowId: string;
  type?: string;
  status?: string;
  /** Asked for with the list, and with a description. */
  memo?: () => Promise<object | undefined>;
  result?: () => Promise<unknown>;
  events?: object[];
  outcome?: string;
}

/** @param listed what a query finds, by a part of the query */
function sessionWith(listed: Record<string, Kept[]>): Session {
  const all = Object.values(listed).flat();
  const infoOf = async ({ workflowId, type = 'deploySite', status = 'COMPLETED', memo, outcome }: Kept) => ({
    ...{ workflowId, runId: `run of ${workflowId}`, type, status: { name: status }, startTime: NOW, historyLength: 3 },
    ...{ memo: await memo?.(), raw: {} },
    typedSearchAttributes: { get: () => outcome },
  });
  const gone = (workflowId: string) => Promise.reject(new WorkflowNotFoundError('gone', workflowId, undefined));
  const workflow = {
    async *list({ query }: { query: string }) {
      const [, found = []] = Object.entries(listed).find(([part]) => query.includes(part)) ?? [];
      for (const it of found) yield await infoOf(it);
    },
    getHandle(workflowId: string) {
      const kept = all.find((it) => it.workflowId === workflowId);
      if (kept === undefined) return { describe: () => gone(workflowId) };
      const { result = () => gone(workflowId), events } = kept;
      const fetchHistory = () => (events === undefined ? gone(workflowId) : Promise.resolve({ events }));
      return { describe: () => infoOf(kept), result, fetchHistory };
    },
  };
  const schedule = { list: () => [] };
  const converter = { ...defaultDataConverter, payloadCodecs: [plainCodec] };
  return {
    client: {
      ...{ workflow, schedule, options: { namespace: 'default', loadedDataConverter: converter } },
      withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act(),
    },
    ...{ taskQueue: 'belay', by: 'ana', uiUrl: null },
    workers: () => Promise.resolve({ pollers: [{ identity: 'w', polledMs: 0, version: null }], current: [null] }),
  } as unknown as Session;
}

const [first, second, app] = [siteTarget('34'), siteTarget('35'), appTarget('a b')];

const deployed = (ms: number) => ({
  ...emptyDeployment(first),
  ...{ outcome: 'completed', acceptedAt: NOW.toISOString(), endedAt: new Date(NOW.getTime() + ms).toISOString() },
});

test('a backup that cannot be read, or is deleted meanwhile, is not reused, and hides no other one', async () => {
  const workflowId = backupServerId('12');
  const result = { ...emptyBackup('12'), backupId: 'b1', outcome: 'completed', startedAt: NOW.toISOString() } as const;
  const memo = () => Promise.resolve({ service: 'http://service' });
  const read = () => Promise.resolve(result);
  const of = (...backups: Omit<Kept, 'workflowId'>[]) =>
    newestCompletedBackup(sessionWith({ [workflowId]: backups.map((it) => ({ workflowId, ...it })) }).client, {
      serverId: '12',
      startedSince: NOW.toISOString(),
    });
  assert.equal(await of({ memo, result: lost }), null);
  assert.equal(await of({ memo: lost, result: read }), null);
  assert.equal(await of({ memo }), null);
  const found = { service: 'http://service', result, error: null };
  assert.deepEqual(await of({ memo: lost, result: read }, { memo, result: read }), found);
});

describe('advice', () => {
  test('counts the operations that can be read, and names those that cannot', async () => {
    const operations: Kept[] = [
      { workflowId: lockIdOf(first), result: lost },
      { workflowId: lockIdOf(first), result: () => Promise.resolve(deployed(60_000)) },
      { workflowId: lockIdOf(second), result: lost },
      { workflowId: lockIdOf(app), result: lost },
      { workflowId: operationIdOf({ serverId: '12' }), result: lost },
    ];
    // A handle is found by its id, so each operation gets its own session's.
    const handles = operations.map(({ result }) => result);
    const session = sessionWith({ WorkflowType: operations });
    const getHandle = () => ({ result: handles.shift() });
    Object.assign(session.client.workflow, { getHandle });
    const found = await createAdvise(session)({});
    assert.deepEqual(
      found.map(({ serverId, target, n, unreadable }) => [serverId, target, n, unreadable]),
      [
        [null, first, 1, WHY_LOST],
        [null, second, 0, WHY_LOST],
        [null, app, 0, WHY_LOST],
        ['12', null, 0, WHY_LOST],
      ],
    );
    assert.deepEqual(
      unreadableIn(found).map(({ workflowId }) => workflowId),
      ['deploy-site:34', 'deploy-site:35', 'deploy-app:a%20b', 'backup-server:12'],
    );
  });

  test('leaves out an operation that Temporal has deleted since it listed it', async () => {
    const found = await createAdvise(sessionWith({ WorkflowType: [{ workflowId: lockIdOf(first) }] }))({});
    assert.deepEqual(found, []);
  });

  test('reads an operation again once its key is there', async () => {
    let result: () => Promise<unknown> = lost;
    const kept = { workflowId: lockIdOf(first), result: () => result() };
    const advise = createAdvise(sessionWith({ WorkflowType: [kept] }));
    assert.equal((await advise({}))[0]?.n, 0);
    result = () => Promise.resolve(deployed(60_000));
    const [now] = await advise({});
    assert.deepEqual([now?.n, now?.unreadable], [1, undefined]);
  });
});

test('a freeze whose memo cannot be decoded holds back everything, and says why, wherever freezes are asked for', async () => {
  const workflowId = 'freeze:site:34';
  const session = sessionWith({ WorkflowType: [{ workflowId, type: 'freeze', status: 'RUNNING', memo: lost }] });
  const frozen = [{ workflowId, freeze: null, unreadable: WHY_LOST }];
  const freezes = createFreezes(session);
  assert.deepEqual(await freezes.list(), frozen);
  assert.deepEqual(await freezes.find([workflowId, 'freeze:site:35']), frozen);
  assert.deepEqual(await findFreezes(session.client, [workflowId]), frozen);
  const { isActive, blocks, override } = adHocEntry(frozen[0]!, NOW.getTime());
  assert.deepEqual([isActive, blocks, override], [true, ['deploy', 'backup'], 'never']);
});

describe('a client that cannot read a freeze in force', () => {
  const workflowId = 'freeze:site:34';
  const scope = { kind: 'site', id: '34' } as const;
  const problemOf = (freeze: string) => `${freeze} is in force, and cannot be read:`;
  const frozen = (memo: () => Promise<object | undefined>): Kept => ({
    workflowId,
    type: 'freeze',
    status: 'RUNNING',
    memo,
  });
  const starting = (listed: Record<string, Kept[]>) => {
    const session = sessionWith(listed);
    const started: unknown[] = [];
    Object.assign(session.client.workflow, { start: (...start: unknown[]) => started.push(start) });
    return { session, started };
  };

  for (const extend of [true, false])
    test(`leaves it in force if it is asked to ${extend ? 'extend it' : 'freeze the same'}`, async () => {
      for (const [memo, remedy] of [
        [lost, `${WHY_LOST}, or thaw it first`],
        [() => Promise.resolve({}), 'its memo is not that of a freeze: thaw it first'],
      ] as const) {
        const { session, started } = starting({ WorkflowType: [frozen(memo)] });
        const asked = createFreezes(session).begin({ scope, forMs: 60_000, reason: 'disks', extend });
        await assert.rejects(asked, { type: 'Usage', message: `${problemOf(workflowId)} ${remedy}` });
        assert.deepEqual(started, []);
      }
    });

  test('retries no rollout that was let off it', async () => {
    const rollout = 'rollout:steady:k';
    const target = { serverId: '12', wave: 'all', outcome: 'failed', endedAt: NOW.toISOString(), deployments: [] };
    const result = { ...emptyRollout({ workflowId: rollout }), outcome: 'failed', targets: [target] };
    const closed = { workflowId: rollout, type: 'rollOut', status: 'FAILED', result: () => Promise.resolve(result) };
    const { session, started } = starting({ WorkflowType: [frozen(lost), closed] });
    const events = [startedWith(payloads({ waves: [], override: { freezes: [workflowId], reason: 'CVE' } }))];
    const getWorkflowExecutionHistory = () => Promise.resolve({ history: { events } });
    Object.assign(session.client, { workflowService: { getWorkflowExecutionHistory } });
    const retry = createRollouts(session, leftOfOverride).retry(rollout);
    await assert.rejects(retry, { type: 'Usage', message: `${problemOf(workflowId)} ${WHY_LOST}, or thaw it first` });
    assert.deepEqual(started, []);
  });
});

const startedWith = (input: object) => ({ workflowExecutionStartedEventAttributes: { input } });
const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });

test('after a restore, doctor lists what it cannot read as something to decide', async () => {
  const failedAs = (outcome: string): Partial<Kept> => ({
    type: 'deployOnly',
    status: 'FAILED',
    outcome,
    result: lost,
  });
  const session = sessionWith({
    Failed: [
      { workflowId: 'deploy:34:unknown', ...failedAs('unknown') },
      { workflowId: 'deploy:34:failed', ...failedAs('failed') },
      { workflowId: 'deploy:34:deleted', type: 'deployOnly', status: 'FAILED' },
    ],
    Running: [
      { workflowId: 'deploy:35:k', type: 'deployOnly', status: 'RUNNING', events: [startedWith(LOST_PAYLOADS)] },
      { workflowId: 'deploy-site:35', status: 'RUNNING', events: [startedWith(LOST_PAYLOADS)] },
      { workflowId: 'deploy-site:36', status: 'RUNNING', events: [startedWith(payloads({ epoch: '1' }))] },
      { workflowId: 'deploy-site:37', status: 'RUNNING' },
    ],
  });
  const reports = await findUndecided(session, '2');
  assert.deepEqual(
    reports.map(({ name, state, message }) => [name, state, message]),
    [
      [
        ...['epoch', 'warning'],
        'BELAY_EPOCH is 2; 0 of 3 runs and operations in flight began in it, and the epoch of 2 cannot be read',
      ],
      ['deploy:34:unknown', 'warning', `ended unknown: the reason cannot be read: ${WHY_LOST}`],
      ['deploy:35:k', 'warning', `in flight, of an epoch that cannot be read: ${WHY_LOST}`],
      [
        ...['deploy-site:35', 'warning'],
        `in flight, of an epoch that cannot be read: ${WHY_LOST}; it holds this lock for no run, it has sent no request`,
      ],
      [
        ...['deploy-site:36', 'warning'],
        'in flight, of epoch 1: holds this lock for no run; it has sent no request, as far as Temporal remembers',
      ],
    ],
  );
});

test('lists show a run or rollout that Temporal has deleted since it listed it as far as the list knows it', async () => {
  const listed: Partial<Kept> = { status: 'FAILED', outcome: 'failed' };
  const runs = [{ workflowId: 'deploy:34:k', type: 'deployOnly', ...listed }];
  const [run] = await listRuns(sessionWith({ WorkflowType: runs }), {});
  assert.deepEqual([run?.workflowId, run?.outcome, run?.unreadable], ['deploy:34:k', 'failed', undefined]);
  const session = sessionWith({ WorkflowType: [{ workflowId: 'rollout:steady:k', type: 'rollOut', ...listed }] });
  const [rollout] = await createRollouts(session, leftOfOverride).list();
  assert.deepEqual([rollout?.outcome, rollout?.unreadable], ['failed', undefined]);
});

test('receipts are made of the runs beside one whose memo cannot be decoded', async () => {
  const runs: Kept[] = [{ workflowId: 'deploy:34:k', memo: lost }, { workflowId: 'deploy:35:k' }];
  const ids: string[] = [];
  for await (const { workflowId } of createReceipts(sessionWith({ WorkflowType: runs }), statusOfRollout).closedSince(
    NOW.toISOString(),
  ))
    ids.push(workflowId);
  assert.deepEqual(ids, ['deploy:34:k', 'deploy:35:k']);
});

test('a run whose memo cannot be decoded is told what it waits for, as one without a memo', async () => {
  const session = sessionWith({ WorkflowType: [{ workflowId: 'deploy:34:k', memo: lost }] });
  const handle = session.client.workflow.getHandle('deploy:34:k');
  assert.equal(await acceptsSignals(handle, ['https://panel.example']), true);
});

test('a firing whose result cannot be decoded has no known outcome, and says why', async () => {
  const firing = { workflowId: 'scheduled:shop:nightly', firstExecutionRunId: 'r' };
  const failure = new WorkflowFailedError('failed', undefined, RetryState.NON_RETRYABLE_FAILURE);
  for (const result of [lost, () => lost().then(() => Promise.reject(failure))]) {
    const session = sessionWith({ WorkflowType: [{ workflowId: firing.workflowId, type: 'scheduled', result }] });
    const { outcome, forgotten, unreadable } = await firingOf(session, NOW.toISOString(), firing);
    assert.deepEqual([outcome, forgotten, unreadable], [null, false, WHY_LOST]);
  }
});
