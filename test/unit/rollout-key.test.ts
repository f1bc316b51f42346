import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RolloutInput } from '../../src/features/rollouts/shapes.ts';
import { isSameRequest, requestHash } from '../../src/request/rollout-start-options.ts';

const [OLD, NEW] = ['https://old.example', 'https://new.example'];
const REQUEST: RolloutInput = {
  ...{ name: 'steady', fleet: 'shop', key: 'k', maxAtOnce: 2, maxFailures: 0, onFailures: 'stop' },
  waves: [{ name: 'all', targets: [{ serverId: 's1', siteIds: ['a1'] }] }],
};
const hashFor = (service?: string, more: Partial<RolloutInput> = {}) =>
  requestHash({ ...REQUEST, ...more, ...(service === undefined ? {} : { service }) });
const MOVED = { service: NEW, formerly: [OLD] };
const now = { ...REQUEST, service: NEW };

test('the key of a rollout stands for the same request, also after its service has moved', () => {
  for (const before of [NEW, OLD, undefined]) assert.ok(isSameRequest(hashFor(before), now, MOVED), before);
  for (const notes of [{ epoch: '1' }, { meta: { job: '7' } }]) {
    assert.ok(isSameRequest(hashFor(OLD, notes), now, MOVED), JSON.stringify(notes));
  }
});

test('another service or another request under the same key is none', () => {
  assert.ok(!isSameRequest(hashFor('https://other.example'), now, MOVED));
  assert.ok(!isSameRequest(hashFor(OLD), now, { service: NEW, formerly: [] }));
  assert.ok(!isSameRequest(hashFor(OLD), now, null));
  // A service that the caller named did not move with the one of the configuration.
  assert.ok(!isSameRequest(hashFor(OLD), { ...REQUEST, service: 'https://other.example' }, MOVED));
  assert.ok(!isSameRequest(hashFor(OLD, { maxAtOnce: 3 }), now, MOVED));
  assert.ok(!isSameRequest(hashFor(OLD, { onGates: { failed: 'pause' } }), now, MOVED));
  assert.ok(!isSameRequest(undefined, now, MOVED));
});
