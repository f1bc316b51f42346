/** A worker with the measured settings, and what has to be true before it polls. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { createStatusWords } from '../activities/http/statuses.ts';
import type { ServiceConfig } from '../config/environment/environment.ts';
import type { Configuration } from '../config/load.ts';
import { createServiceClient } from '../hosting-api/index.ts';
import { BelayError } from '../contract/results/belay-error.ts';
import { createNotifier } from '../activities/notifications/notifier.ts';
import { withLink } from '../client/connection/ui-link.ts';
import { temporalDeps } from '../client/lookups/index.ts';
import type { TemporalPlace } from '../config/temporal/find-temporal.ts';
import { connectWhenThere } from './connect.ts';
import type { Logger } from '../process/log.ts';
import { heardOf } from './wait-until-polling.ts';
import { workerIdentity } from './identity.ts';
import { probeService } from './probe-service.ts';
import { registerSearchAttributes } from './search-attributes.ts';

/** Made by the build, so that a worker needn't bundle when it starts. */
export const WORKFLOW_BUNDLE = {
  codePath: fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url)),
};

/** Each guards against something measured; docs/architecture.md tells what. */
const SETTINGS = {
  // A worker that was killed leaves tasks on its own queue; they are lost for this long.
  stickyQueueScheduleToStartTimeout: '2s',
  // Thousands of signals in one task take seconds; where that is too long, the SDK takes the whole process down.
  isolateExecutionTimeout: '1 minute',
  // A POST under way is let finish: 8 s for the answer, and its record.
  shutdownGraceTime: '15s',
  // A read that hangs holds one of each of these for a second,
  maxConcurrentWorkflowTaskExecutions: 250,
  maxConcurrentLocalActivityExecutions: 250,
  // and one of these, which triggers need, for up to fifteen.
  maxConcurrentActivityTaskExecutions: 1_000,
} as const;

export interface WorkerOptions {
  temporal: Pick<TemporalPlace, 'connectionOptions' | 'namespace'> & Partial<Pick<TemporalPlace, 'uiUrl'>>;
  taskQueue: string;
  service: ServiceConfig;
  /** Default: nothing beside what the interface shows. */
  configuration?: Configuration;
  log: Logger;
}

export interface RunningWorker {
  /** Resolves when the worker has stopped, rejects when it broke. */
  readonly ended: Promise<void>;
  /** Finishes what is under way, a request for one. */
  stop(): Promise<void>;
}

/**
 * @param onRefusedToken `throw` for one of many workers, which must not spoil the runs of the others; `warn` where it
 * is the only one: then its runs say so
 * @throws BelayError
 */
export async function startWorker(options: WorkerOptions, onRefusedToken: 'throw' | 'warn'): Promise<RunningWorker> {
  const { temporal, taskQueue, configuration = {}, log } = options;
  const { namespace, uiUrl = null } = temporal;
  const notifier = await createNotifier(configuration.notify, (result) => withLink({ namespace, uiUrl }, result));
  const service = createServiceClient(options.service);
  const probe = await probeService(service);
  if (probe.state === 'refused' && onRefusedToken === 'throw') throw new BelayError('Refused', probe.message);
  if (probe.state !== 'ok') log.warn(probe.message);

  const connection = await connectWhenThere(temporal, log);
  const unusable = await registerSearchAttributes(connection, namespace);
  if (unusable !== null) log.warn(`search attributes are not used: ${unusable}`);
  const identity = workerIdentity();
  const worker = await Worker.create({
    ...SETTINGS,
    connection,
    namespace,
    taskQueue,
    identity,
    workflowBundle: WORKFLOW_BUNDLE,
    activities: createActivities({
      service,
      statuses: createStatusWords(configuration.statuses),
      facts: {
        service: service.origin,
        searchAttributes: unusable === null,
        ...(notifier.facts === null ? {} : { notify: notifier.facts }),
      },
      notify: (input) => notifier.notify(input),
      callHeartbeat: (name) => notifier.callHeartbeat(name),
      ...temporalDeps({ connection, namespace }),
    }),
  });
  const ended = worker.run().finally(() => connection.close());
  await Promise.race([heardOf(connection, { namespace, taskQueue, identity }), ended]);
  return {
    ended,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}
