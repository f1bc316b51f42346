import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otherEpoch } from '../../src/contract/service-identity.ts';
import { epochOf, identityText } from '../../src/contract/worker-identity.ts';

const NOON = '2027-03-01T12:00Z';
const at = (time: string) => Date.parse(`2027-03-01T${time}Z`);

test('what recorded another epoch, or began before one that is a time, may have been done before a restore', () => {
  const rows: [recorded: string | undefined, began: string, current: string, mayBeDone: boolean][] = [
    ['1', '11:59', '1', false],
    ['1', '12:01', '2', true],
    // Without a recorded epoch, only a time can tell.
    [undefined, '11:59', '2', false],
    [undefined, '11:59', NOON, true],
    [undefined, '12:00', NOON, false],
    [undefined, '11:59', '2027-03-01T12:00:00.5Z', true],
    // Whoever recorded it saw workers of this epoch, whatever the clocks show.
    [NOON, '11:59', NOON, false],
    [undefined, '11:59', '2027', false],
    [undefined, '11:59', '2027-13-01T12:00Z', false],
  ];
  for (const [epoch, began, current, mayBeDone] of rows) {
    const problem = otherEpoch({ epoch, beganMs: at(began) }, current);
    assert.equal(problem !== null, mayBeDone, `${epoch} ${began} ${current}`);
    if (problem !== null) assert.match(problem, /nothing was sent.*check at the service/);
  }
});

test('a starter knows the epoch of the workers if they agree', () => {
  const worker = (epoch?: string) =>
    identityText({
      version: '0.1.0',
      where: 'host:7',
      service: 'https://panel.example',
      since: NOON,
      ...(epoch && { epoch }),
    });
  assert.deepEqual(epochOf([worker('2'), worker('2')]), { epoch: '2' });
  assert.deepEqual(epochOf([worker('after the fire')]), { epoch: 'after the fire' });
  for (const mixed of [[], [worker('1'), worker('2')], [worker('1'), worker()], ['7@host']]) {
    assert.deepEqual(epochOf(mixed), {});
  }
});
