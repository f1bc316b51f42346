import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { newKey, underKey } from '../../src/client/start.ts';

const taken = (key: string) => new WorkflowExecutionAlreadyStartedError('taken', `deploy:a1:${key}`, 'deployOnly');

test('a new key shows its minute in UTC, sorts by it, and ends in random characters', () => {
  const earlier = newKey(Date.UTC(2026, 10, 22, 1, 6));
  const later = newKey(Date.UTC(2026, 10, 22, 13, 0));
  assert.match(earlier, /^20261122-0106-[0-9a-hjkmnp-tv-z]{8}$/);
  assert.ok(earlier < later);
  const keys = Array.from({ length: 1_000 }, () => newKey(0));
  assert.equal(new Set(keys).size, keys.length);
});

test('a start under a new key never attaches: if the key is taken, it uses the next one', async () => {
  const keys: string[] = [];
  const started = await underKey(undefined, (key, ifTaken) => {
    assert.equal(ifTaken, 'fail');
    return keys.push(key) === 1 ? Promise.reject(taken(key)) : Promise.resolve(key);
  });
  assert.equal(started, keys[1]);
  assert.notEqual(keys[0], keys[1]);
});

test('a start under a new key ends with the error if every key is taken, and at once with any other error', async () => {
  let starts = 0;
  const failing = (error: Error) => () => {
    starts += 1;
    return Promise.reject(error);
  };
  await assert.rejects(underKey(undefined, failing(taken('any'))), WorkflowExecutionAlreadyStartedError);
  assert.equal(starts, 5);
  await assert.rejects(underKey(undefined, failing(new Error('away'))), /away/);
  assert.equal(starts, 6);
});
