import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { policyFinding } from '../../src/features/doctor/worker.ts';
import { parsePolicyNotice, policyNoticeText, type PolicyNotice } from '../../src/contract/worker-identity.ts';

const workerAt = (where: string) => `belay/0.1.0 ${where} for http://service since 2026-11-25T10:00:00.000Z in epoch 1`;
const notice = (where: string, hash: string, isLatest = true): PolicyNotice => ({
  hash,
  isLatest,
  worker: workerAt(where),
});

describe('the policies that workers report', () => {
  test('are read back as they were sent', () => {
    for (const sent of [notice('vm:1', '13827acdae41'), notice('vm:1', '13827acdae41', false)])
      assert.deepEqual(parsePolicyNotice(policyNoticeText(sent)), sent);
    assert.equal(parsePolicyNotice(workerAt('vm:1')), null);
  });

  test('are fine if they are the same', () => {
    const { state, message } = policyFinding([notice('vm:1', 'a1'), notice('vm:2', 'a1')]);
    assert.deepEqual([state, message], ['ok', 'a1 at every worker']);
  });

  test('are a warning that names the workers if they differ', () => {
    const { state, message, remedy } = policyFinding([
      notice('vm:1', 'a1'),
      notice('vm:2', 'b2'),
      notice('vm:3', 'a1'),
    ]);
    assert.deepEqual([state, message], ['warning', 'the workers differ: a1 at vm:1, vm:3; b2 at vm:2']);
    for (const section of ['fleets', 'inventory', 'approvals', 'gates']) assert.match(remedy ?? '', RegExp(section));
  });

  test("are a warning if this machine's file has another one", () => {
    const workers = [notice('vm:1', 'a1'), notice('vm:2', 'a1')];
    assert.equal(policyFinding(workers, 'a1').state, 'ok');
    const { state, message } = policyFinding(workers, 'b2');
    assert.deepEqual(
      [state, message],
      ['warning', "this machine's belay.yaml has another policy than the workers': b2 here, a1 there"],
    );
  });

  test('are a warning if one is an earlier one, because the file has a mistake', () => {
    const { state, message } = policyFinding([notice('vm:1', 'a1'), notice('vm:2', 'a1', false)]);
    assert.equal(state, 'warning');
    assert.match(message, /^an earlier policy stays in force at vm:2, /);
  });

  test('are skipped if no worker reports its own', () => {
    assert.equal(policyFinding([]).state, 'skipped');
  });
});
