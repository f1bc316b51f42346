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
  const result = { workflowId: 'w', runId: 'r', links: { ui: null }, error: null };
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
    error: (type: ErrorType, message: string) => new BelayError(type, message),
  } as unknown as Awaited<typeof result>;
  assert.deepEqual(await awaitResult(session, awaited, {}), result);
});
