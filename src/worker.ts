/** Program `belay worker`: executes runs from Temporal and calls the hosting service. Only workers have the API token. */
import { requireService, serviceConfig, taskQueue } from './config/environment/environment.ts';
import { readConfiguration } from './config/load.ts';
import { runUntilSignal } from './process/run-until-signal.ts';
import { findTemporal } from './config/temporal/find-temporal.ts';
import { startWorker } from './worker/start.ts';
import { createLogger } from './process/log.ts';
import { installRuntime } from './worker/sdk-logging.ts';

export async function main(): Promise<void> {
  const service = requireService(await serviceConfig());
  const configuration = await readConfiguration();
  const temporal = findTemporal();
  const log = createLogger('info');
  installRuntime(log);
  const stopping = new AbortController();
  const starting = startWorker(
    { temporal, taskQueue: taskQueue(), service, configuration, log },
    'wait',
    stopping.signal,
  );
  const polling = starting.then(({ clockAheadMs, ended }) => {
    const { address } = temporal.connectionOptions;
    log.info({ service: service.baseUrl, temporal: address, taskQueue: taskQueue(), clockAheadMs }, 'polling');
    return ended;
  });
  await runUntilSignal(polling.then(() => new Promise<never>(() => undefined)));
  stopping.abort();
  log.info('stopping: waiting for requests in progress');
  const worker = await starting.catch(() => null);
  await worker?.stop();
}
