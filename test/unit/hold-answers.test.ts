import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';
import { holdAnswers } from '../../src/workflows/hold-answers.ts';

type Jobs = NonNullable<ActivateInput['activation']['jobs']>;
type Commands = ConcludeActivationInput['commands'];

const READ = { scheduleLocalActivity: { seq: 1 } };
const READ_ENDED = { resolveActivity: { seq: 1, isLocal: true } };
const answerTo = (queryId: string) => ({ respondToQuery: { queryId } });

function workflow() {
  const interceptor = holdAnswers();
  /** One activation. @returns the commands that core gets */
  return (jobs: Jobs, commands: Commands): Commands => {
    interceptor.activate?.({ activation: { jobs }, batchIndex: 0 }, () => {});
    return interceptor.concludeActivation!({ commands }, (input) => input).commands;
  };
}

describe('the answer to a query', () => {
  test('is given at once if no local activity runs', () => {
    const act = workflow();
    assert.deepEqual(act([], [answerTo('q1')]), [answerTo('q1')]);
    assert.deepEqual(act([], [answerTo('legacy_query')]), [answerTo('legacy_query')]);
  });

  test('waits until the code has seen what the local activity brought', () => {
    const act = workflow();
    assert.deepEqual(act([], [READ]), [READ]);
    assert.deepEqual(act([], [answerTo('q1')]), []);
    const next = { startTimer: { seq: 1 } };
    assert.deepEqual(act([READ_ENDED], [next]), [next, answerTo('q1')]);
    assert.deepEqual(act([], []), []);
  });

  test('waits on if the code begins another local activity', () => {
    const act = workflow();
    act([], [READ]);
    act([], [answerTo('q1')]);
    const other = { scheduleLocalActivity: { seq: 2 } };
    assert.deepEqual(act([READ_ENDED], [other]), [other]);
    assert.deepEqual(act([{ resolveActivity: { seq: 2, isLocal: true } }], []), [answerTo('q1')]);
  });

  test('is given once if the query comes again with the next task', () => {
    const act = workflow();
    act([], [READ]);
    act([], [answerTo('q1')]);
    act([], [answerTo('q1')]);
    assert.deepEqual(act([READ_ENDED], []), [answerTo('q1')]);
  });

  test('is an error if the query came without a task while a local activity runs', () => {
    const act = workflow();
    act([], [READ]);
    const query = { queryWorkflow: { queryId: 'legacy_query' } };
    assert.throws(() => act([query], []), /busy with a read: ask again/);
  });
});
