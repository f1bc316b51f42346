/** How `belay freezes` names what holds back, what will, and what is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adHocEntry, entryLine, fileEntry } from '../../src/features/freezes/actions.ts';
import { policyOf } from '../../src/config/policy.ts';

const freeze = {
  ...{
    scope: { kind: 'site', id: '34' } as const,
    since: '2026-11-20T12:00:00.000Z',
    until: '2026-11-20T14:00:00.000Z',
  },
  ...{ reason: 'disks', by: 'ana', blocks: ['deploy' as const], override: 'reason' as const },
};
const lineAt = (at: string) => {
  const atMs = Date.parse(at);
  return entryLine(adHocEntry({ workflowId: 'freeze:site:34', freeze }, atMs), atMs);
};

test('a freeze that a command began is frozen until its end, and over at any later time', () => {
  assert.match(lineAt('2026-11-20T13:00Z'), /frozen {3}freeze:site:34 until .*, 1h more, by ana: disks/);
  for (const at of ['2026-11-20T14:00Z', '2026-12-24T11:00Z'])
    assert.match(lineAt(at), /^over {5}freeze:site:34 from 2026-11-20 12:00:00 \(UTC\) until 2026-11-20 14/);
});

test('a freeze of belay.yaml comes later, or is over if it never begins again', () => {
  const times = { from: '2026-12-20T18:00', to: '2027-01-04T06:00', reason: 'season' };
  const policy = policyOf({ freezes: { christmas: times } });
  const stateAt = (at: string) => {
    const atMs = Date.parse(at);
    return policy.list([], atMs).map((it) => entryLine(fileEntry(it), atMs).split(' ')[0]);
  };
  assert.deepEqual([stateAt('2026-11-20T12:00Z'), stateAt('2027-02-01T12:00Z')], [['later'], ['over']]);
});
