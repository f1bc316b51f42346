import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBelayError } from '../../src/client/to-belay-error.ts';
import { reachedAddress, isUnanswered } from '../../src/client/transport/grpc-errors.ts';

const grpcError = (code: number, message: string): Error =>
  Object.assign(new Error(message), { code, details: message, metadata: {} });

for (const [what, error] of [
  ['a call whose time is over', grpcError(4, '4 DEADLINE_EXCEEDED: Deadline exceeded after 2s')],
  ['a call that the server cancels as its time is over', grpcError(1, '1 CANCELLED: Call cancelled')],
  ['a call without a connection', grpcError(14, '14 UNAVAILABLE: No connection established')],
] as const) {
  test(`${what} is an error of Temporal, not of Belay`, () => {
    const { type, message } = toBelayError(error, 'read x');
    assert.deepEqual([type, message], ['TemporalUnreachable', 'cannot read x: Temporal does not answer']);
  });
}

test('a refused argument is reported without the number and name of its code', () => {
  const error = Object.assign(grpcError(3, 'Invalid RunId.'), { message: '3 INVALID_ARGUMENT: Invalid RunId.' });
  const { type, message } = toBelayError(error, 'read nope');
  assert.deepEqual([type, message], ['Usage', 'cannot read nope: Invalid RunId.']);
});

test('a missing namespace is named in one sentence, with the remedy', () => {
  const { type, message } = toBelayError(grpcError(5, 'Namespace nope is not found.'), 'list runs');
  assert.deepEqual([type, message.split(': check ')[0]], ['Usage', 'cannot list runs: Namespace nope is not found']);
});

test('a query is unanswered if its time is over or no worker polls, and not if its workflow is unknown', () => {
  const codes = [1, 4, 9, 5];
  assert.deepEqual(
    codes.map((code) => isUnanswered(grpcError(code, 'of a query'))),
    [true, true, true, false],
  );
});

test('an address without a port is told with the one that is used', () => {
  assert.equal(reachedAddress('127.0.0.1:7244'), '127.0.0.1:7244');
  assert.equal(reachedAddress('[::1]:7244'), '[::1]:7244');
  assert.equal(reachedAddress('127.0.0.1'), '127.0.0.1, port 7233 because it names none');
  assert.equal(reachedAddress('[::1]'), '[::1], port 7233 because it names none');
});
