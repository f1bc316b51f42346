import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TargetResult } from '../../src/features/rollouts/shapes.ts';
import { nextStep } from '../../src/features/rollouts/rules.ts';
import { targetResult } from '../support/target-result.ts';

test('a server released late starts before the next wave', () => {
  const target = (serverId: string, wave: string, more: Partial<TargetResult> = {}) =>
    targetResult({ serverId, wave, ...more });
  const [late, next] = [target('s1', 'canary'), target('s2', 'rest')];
  const running = target('s3', 'canary', { startedAt: 'now' });
  const step = (targets: TargetResult[]) => nextStep({ targets, maxAtOnce: 5, phase: 'running', onFailures: 'stop' });
  assert.deepEqual(step([running, late, next]), { kind: 'begin', target: late });
  assert.deepEqual(step([running, { ...late, heldByEvent: 'e' }, next]), { kind: 'wait' });
  assert.deepEqual(
    step([
      { ...late, heldByEvent: 'e' },
      { ...next, heldByEvent: 'e' },
    ]),
    { kind: 'end' },
  );
});
