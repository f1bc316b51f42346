import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationPhase } from '../../src/contract/operation.ts';
import type { Phase } from '../../src/contract/names.ts';
import { createParking } from '../../src/workflows/polling/poller.ts';

const MINUTE = 60_000;
const REASON = { type: 'OutcomeUnknown', message: 'ten reads failed' } as const;

test('the outages of an operation share its budget, and each of them shows when it began and ends at the latest', () => {
  const phases: (Phase | OperationPhase)[] = ['wait'];
  const parking = createParking(10 * MINUTE, {
    phase: () => phases.at(-1) ?? 'done',
    setPhase: (phase) => phases.push(phase),
  });
  assert.equal(parking.park(REASON, 0, 0), null);
  assert.equal(parking.park(REASON, MINUTE, 0), null);
  assert.equal(parking.current?.readAtMs, 2 * MINUTE);
  assert.equal(parking.leave(6 * MINUTE), 6 * MINUTE);
  assert.equal(parking.park(REASON, 20 * MINUTE, 0), null);
  const { since, until, reason } = parking.current?.shown ?? {};
  assert.deepEqual([since, until], ['1970-01-01T00:20:00.000Z', '1970-01-01T00:24:00.000Z']);
  assert.equal(reason, REASON.message);
  assert.match(parking.park(REASON, 24 * MINUTE, 0)?.message ?? '', /the outage budget of 10m is used up/);
  assert.deepEqual(phases, ['wait', 'parked', 'wait', 'parked']);
});

test('an operation without an outage budget ends as it would', () => {
  const parking = createParking(null, { phase: () => 'wait', setPhase: () => assert.fail('it is parked') });
  assert.equal(parking.park(REASON, 0, 0), REASON);
  assert.equal(parking.spentMs, 0);
});

test('after an outage, an operation is in the phase from before it', () => {
  let phase: Phase | OperationPhase = 'baseline';
  const parking = createParking(MINUTE, { phase: () => phase, setPhase: (next) => (phase = next) });
  phase = 'wait';
  parking.park(REASON, 0, 0);
  assert.equal(phase, 'parked');
  parking.leave(1);
  assert.equal(phase, 'wait');
});
