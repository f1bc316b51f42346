/** Program `belay worker`: takes runs from Temporal and talks to the hosting service. The only holder of the token. */
import { requireService, serviceConfig, taskQueue } from './config/environment/environment.ts';
import { readConfiguration } from './config/load.ts';
import { untilStopped } from './process/run-until-signal.ts';
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
  const worker = await startWorker({ temporal, taskQueue: taskQueue(), service, configuration, log }, 'throw');
  log.info(
    { service: service.baseUrl, temporal: temporal.connectionOptions.address, taskQueue: taskQueue() },
    'polling',
  );
  const broken = worker.ended.then(() => new Promise<never>(() => undefined));
  await untilStopped(broken);
  log.info('stopping: requests under way are let finish');
  await worker.stop();
}
