/** How long a client waits for a Temporal that does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitResult, type Awaited } from '../../src/client/await-result.ts';
import type { Session } from '../../src/client/session.ts';
import { BelayError } from '../../src/contract/errors.ts';
import type { ErrorType } from '../../src/contract/names.ts';
import { GRPC } from '../../src/client/transport/grpc-errors.ts';

test('a wait is not given up as lost because someone sets the clock', async (context) => {
  let nowMs = Date.now();
  context.mock.method(Date, 'now', () => (nowMs += 10 * 60_000));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const unavailable = Object.assign(new Error('down'), { code: GRPC.unavailable, details: 'down', metadata: {} });
  const result = { workflowId: 'w', runId: 'r', links: { ui: null }, error: null, attached: false };
  let failures = 2;
  const withDeadline = () => (failures-- > 0 ? Promise.reject(unavailable) : Promise.resolve(result));
  const connection = {
    withDeadline() {
      // After this answer, the client pauses.
      setImmediate(() => context.mock.timers.tick(60_000));
      return Promise.reject(unavailable);
    },
  };
  const session = { uiUrl: null, namespace: 'default', client: { connection, withDeadline } } as unknown as Session;
  const awaited = {
    handle: { workflowId: 'w' },
    ids: result,
    error: (type: ErrorType, message: string) => new BelayError(type, message),
  } as unknown as Awaited<typeof result>;
  assert.deepEqual(await awaitResult(session, awaited, {}), result);
});

test('a wait that stops without an answer of the run reports what the record of Temporal has shown', async () => {
  const stopping = new AbortController();
  const ids = {
    workflowId: 'w',
    runId: 'r',
    links: { ui: null },
    error: null,
    attached: true,
    phase: null as string | null,
  };
  const client = {
    withAbortSignal: (_: unknown, ask: () => unknown) => ask(),
    withDeadline: (_: unknown, ask: () => unknown) => ask(),
  };
  const session = { uiUrl: null, namespace: 'default', client } as unknown as Session;
  let reported: unknown;
  const awaited = {
    ids,
    what: 'run',
    describe: () => Promise.resolve({}),
    knownOf: () => ({ ...ids, attached: false, phase: 'deploy' }),
    handle: {
      workflowId: 'w',
      result() {
        stopping.abort();
        return Promise.reject(new Error('cancelled'));
      },
    },
    status: () => Promise.reject(new Error('no answer')),
    error(type: ErrorType, message: string, result: unknown) {
      reported = result;
      return new BelayError(type, message);
    },
  } as unknown as Awaited<typeof ids>;
  await assert.rejects(awaitResult(session, awaited, { signal: stopping.signal }), { type: 'StoppedWaiting' });
  assert.deepEqual(reported, { ...ids, phase: 'deploy' });
});
