/** Belay with a Temporal server of its own, for one measurement. */
import { connect, type Belay } from '../../src/starter.ts';
import { startWorkerProcess, type Started } from '../../test/support/processes.ts';
import { startTemporal } from '../../test/support/temporal.ts';
import type { Service } from '../service/start-service.ts';

export interface BelayStack {
  readonly belay: Belay;
  readonly serverPid: number;
  readonly workerPid: number;
  /** Ends all of it at once, whatever is in flight. */
  close(): Promise<void>;
}

/** Its worker is a process that may be replaced. */
export interface KillableStack extends BelayStack {
  readonly address: string;
  /** Kills the worker with SIGKILL. */
  killWorker(): Promise<void>;
  /** Starts another worker and waits until it polls. */
  startWorker(): Promise<void>;
}

/** @param heapMb of the worker. Default: as much as Node gives it on this machine */
export async function openStack(
  { url, token }: Pick<Service, 'url' | 'token'>,
  heapMb?: number,
): Promise<KillableStack> {
  const server = await startTemporal();
  const { address } = server;
  const heap = heapMb === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heapMb}` };
  const env = { TEMPORAL_ADDRESS: address, BELAY_API_URL: url, BELAY_API_TOKEN: token, ...heap };
  let worker: Started = await startWorkerProcess(env);
  const belay = await connect({ address });
  const killWorker = async () => {
    worker.process.kill('SIGKILL');
    await worker.finished;
  };
  return {
    ...{ belay, address, serverPid: server.pid, killWorker },
    get workerPid() {
      return worker.process.pid!;
    },
    startWorker: async () => void (worker = await startWorkerProcess(env)),
    async close() {
      await belay.close();
      await killWorker();
      await server.stop();
    },
  };
}
