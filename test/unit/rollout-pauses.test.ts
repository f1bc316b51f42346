import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rolloutPauses, type Requested } from '../../bench/statistics/rollout-pauses.ts';

const at = (ms: number) => new Date(ms).toISOString();
const read = (ms: number, path: string): Requested => ({ at: at(ms), request: `GET /v1/${path}`, began: null });
const backup = (ms: number, target: string): Requested => ({
  at: at(ms),
  request: `POST /v1/servers/${target}/backups`,
  began: { kind: 'backup', id: `b-${target}`, target },
});
const deployment = (ms: number, target: string): Requested => ({
  at: at(ms),
  request: `POST /v1/sites/${target}/deploy`,
  began: { kind: 'deployment', id: `d-${target}`, target },
});

test('the pauses of a rollout and the durations of its operations are the whole of its time', () => {
  const lanes = {
    servers: [
      { serverId: 's1', siteIds: ['a1'] },
      { serverId: 's2', siteIds: ['a2'] },
    ],
    ...{ atOnce: 1, durationMs: { backup: 100, deployment: 50 }, fromMs: 0, toMs: 500 },
  };
  const journal = [
    ...[backup(10, 's1'), read(60, 'backups/b-s1'), read(120, 'backups/b-s1')],
    ...[deployment(150, 'a1'), read(230, 'sites/a1/deployments/latest')],
    ...[backup(300, 's2'), read(400, 'backups/b-s2')],
    ...[deployment(410, 'a2'), read(470, 'sites/a2/deployments/latest')],
  ];
  const pauses = rolloutPauses(journal, lanes);
  assert.deepEqual(pauses, {
    toBegin: { eachMs: 10, timesInLane: 1 },
    toRead: { eachMs: 12.5, timesInLane: 4 },
    toNextOperation: { eachMs: 20, timesInLane: 2 },
    toNextServer: { eachMs: 70, timesInLane: 1 },
    toEnd: { eachMs: 30, timesInLane: 1 },
  });
  const pausedMs = Object.values(pauses).reduce((sum, { eachMs, timesInLane }) => sum + eachMs * timesInLane, 0);
  assert.equal(pausedMs, 500 - 2 * (100 + 50));
});

test('a backup that is requested again counts from its last request', () => {
  const journal = [backup(0, 's1'), backup(40, 's1'), read(140, 'backups/b-s1')];
  const lanes = { atOnce: 1, durationMs: { backup: 100, deployment: 50 }, fromMs: 0, toMs: 150 };
  const { toBegin, toRead } = rolloutPauses(journal, { servers: [{ serverId: 's1', siteIds: [] }], ...lanes });
  assert.deepEqual([toBegin.eachMs, toRead.eachMs], [40, 0]);
});
