import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyResult } from '../../src/contract/results.ts';
import type { RolloutInput } from '../../src/features/rollouts/shapes.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { plainMeta } from '../../src/contract/safe-text.ts';
import { MAX_META_BYTES } from '../../src/request/limits.ts';
import { runStartOptions } from '../../src/request/start-options.ts';
import { validateRolloutInput } from '../../src/request/input/rollout-input.ts';

const SERVERS = 200;
const MB = 1_000_000;
/** Temporal ends a workflow at 50 MB of history. */
const ROLLOUT_BYTES = 5 * MB;

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const problemOf = (meta: Record<string, string>) => {
  const rollout: RolloutInput = {
    ...{ name: 'steady', fleet: 'shop', key: 'k', maxAtOnce: 40, maxFailures: 0, onFailures: 'stop', meta },
    waves: [{ name: 'all', targets: [{ serverId: 's1', siteIds: ['a1'] }] }],
  };
  return validateRolloutInput(rollout);
};

const LONGEST = 200;
const FULL_NOTES = 20;

/** The largest notes of these characters that a rollout takes. */
function largest(character: string): Record<string, string> {
  const notes = (length: number) =>
    Object.fromEntries(
      Array.from({ length: FULL_NOTES }, (_, n) => {
        const left = Math.max(0, length - n * LONGEST);
        return [`n${n}`, character.repeat(Math.min(LONGEST, left))];
      }),
    );
  let length = FULL_NOTES * LONGEST;
  while (problemOf(notes(length)) !== null) length -= 1;
  return notes(length);
}

/** What the history of the rollout stores about one server: how its run starts, and its result. */
function storedFor(meta: Record<string, string>): number {
  const run: RunInput = { serverId: 's1', siteIds: ['a1'], meta };
  const start = { type: 'backupThenDeploy', workflowId: 'backup-then-deploy:s1:k1', startedBy: 'a rollout' } as const;
  return bytesOf({ ...runStartOptions(run, start), args: [run] }) + bytesOf(emptyResult({ meta: plainMeta(meta) }));
}

for (const [what, character] of [
  ['letters', 'x'],
  ['letters of several bytes', '€'],
  ['characters that JSON escapes', '\u0001'],
] as const) {
  test(`the largest notes in ${what} leave the history of a rollout of ${SERVERS} servers small`, () => {
    const meta = largest(character);
    assert.ok(bytesOf(meta) > 0.9 * MAX_META_BYTES, `${bytesOf(meta)} bytes`);
    assert.ok(SERVERS * storedFor(meta) < ROLLOUT_BYTES, `${SERVERS * storedFor(meta)} bytes`);
  });
}
