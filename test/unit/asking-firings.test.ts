/** The warning of `schedule apply` about firings that wait for people. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROLLOUT_TYPE } from '../../src/contract/names.ts';
import type { RolloutWave } from '../../src/features/rollouts/shapes.ts';
import type { ScheduledInput } from '../../src/features/schedules/shapes.ts';
import { askedByFirings } from '../../src/features/schedules/actions.ts';
import { policyOf } from '../../src/config/policy.ts';

const POLICY = policyOf({
  approvals: {
    production: { proof: 'none', for: { sites: ['34'] } },
    canary: { proof: 'none', for: { sites: ['no such site'] } },
  },
});

const asked = (start: ScheduledInput['start']): string[] => askedByFirings(start, POLICY);

describe('the firings of a schedule', () => {
  test('ask for what their deployments need, and for what they name, once', () => {
    const start = (siteIds: string[], approval?: string) =>
      ({ type: 'deployOnly', input: { siteIds, ...(approval === undefined ? {} : { approval }) } }) as const;
    assert.deepEqual(asked(start(['34', '35'])), ['production']);
    assert.deepEqual(asked(start(['35'])), []);
    assert.deepEqual(asked(start(['34'], 'production')), ['production']);
    assert.deepEqual(asked(start(['35'], 'canary')), ['canary']);
  });

  test('of a rollout ask for what any of its waves needs or names', () => {
    const [first, second] = ['35', '34'].map((site) => ({ serverId: `s${site}`, siteIds: [site] }));
    const options = { maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' as const };
    const waves: RolloutWave[] = [
      { name: 'canary', approval: 'canary', targets: [first!] },
      { name: 'rest', targets: [second!] },
    ];
    const input = { name: 'steady', fleet: 'shop', waves, ...options };
    assert.deepEqual(asked({ type: ROLLOUT_TYPE, input }), ['production', 'canary']);
  });

  test('that only make backups, or only watch, ask for nothing', () => {
    assert.deepEqual(asked({ type: 'backupOnly', input: { serverId: '12', approval: 'canary' } }), []);
    assert.deepEqual(asked({ type: 'watchDeployment', input: { siteIds: ['34'] } }), []);
  });
});
