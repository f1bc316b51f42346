/** Passes calls on to the connection in use. A scope stays with the one it began with, which has its deadline. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConnectionLike } from '@temporalio/client';
import { withPutOff } from './put-off.ts';

type Close = Pick<ConnectionLike, 'close'>;

export function scopedConnection<C extends ConnectionLike>(inUse: () => C, { close }: Close): ConnectionLike {
  const scope = new AsyncLocalStorage<C>();
  const held = () => scope.getStore() ?? inUse();
  const within = <T>(act: (connection: C) => Promise<T>) => {
    const connection = held();
    return scope.run(connection, () => act(connection));
  };
  return {
    plugins: [],
    get workflowService() {
      return held().workflowService;
    },
    get operatorService() {
      return held().operatorService;
    },
    ensureConnected: () => held().ensureConnected(),
    withDeadline: (deadline, act) => within((it) => it.withDeadline(deadline, () => withPutOff(act))),
    withMetadata: (metadata, act) => within((it) => it.withMetadata(metadata, act)),
    withAbortSignal: (signal, act) => within((it) => it.withAbortSignal(signal, act)),
    async close() {
      await close();
      // Otherwise Node 20 and 22 carry it along with every later promise of the program.
      scope.disable();
    },
  };
}
