/** What a worker reports about itself. It always measures, and serves the figures only if an address is set. */
import type { Worker, InjectedSinks } from '@temporalio/worker';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../process/version.ts';
import {
  OPERATION_KINDS,
  TRIGGER_EFFECTS,
  type OperationKind,
  type RunEnded,
  type TriggerEffect,
  type MetricSinks,
} from '../contract/sinks.ts';
import type { RequestReport } from '../hosting-api/index.ts';
import { createCredentialGauges } from '../client/transport/credential-gauges.ts';
import { plainText } from '../contract/safe-text.ts';
import type { Logger } from '../process/log.ts';

export interface PollingWorker {
  workers: readonly Pick<Worker, 'getState'>[];
  /** When Temporal last saw the worker begin a poll, by Temporal's clock. Null if Temporal does not list the worker. */
  polledMs: () => Promise<number | null>;
  /** By Temporal's clock. */
  nowMs: () => Promise<number>;
}

export interface Monitoring {
  readonly metrics: WorkerMetrics;
  /** Null until the worker exists. */
  polling: PollingWorker | null;
}

/** @param buildId null if the worker is not versioned */
export function createMonitoring(buildId: string | null = null): Monitoring {
  return { metrics: createWorkerMetrics(buildId), polling: null };
}

/* Prometheus metrics of a worker. No id is ever a label, because every site would then be a series. */

type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

const UNAUTHORIZED = 401;
const QUICK_S = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const SLOW_S = [0.1, 1, 10, 60, 300, 900, 1_800, 3_600, 14_400, 43_200];

function createWorkerMetrics(buildId: string | null) {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `belay_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram({ name: `belay_${name}`, help, buckets, labelNames, registers });
  const gauge = (name: string, help: string) => {
    const made = new Gauge({ name: `belay_${name}`, help, registers });
    // Remove the gauge until it is set, because zero would be a statement.
    made.remove();
    return made;
  };

  const runs = counter('runs_total', 'Runs and rollouts that ended', 'type', 'outcome', 'error_type');
  const triggers = counter('triggers_total', 'Requests to start an operation, by effect', 'operation', 'effect');
  // A counter that first appears with an event does not show that event as an increase.
  for (const operation of OPERATION_KINDS) for (const effect of TRIGGER_EFFECTS) triggers.inc({ operation, effect }, 0);
  const polls = counter('polls_total', 'Reads of a status, by result', 'operation', 'result');
  const lateness = histogram('poll_lateness_seconds', 'How late polls are made', QUICK_S);
  const locks = histogram('lock_wait_seconds', 'Time that a run waited for a lock', SLOW_S, 'operation');
  const hints = histogram('hint_to_verdict_seconds', 'Time from a hint to the verdict it led to', QUICK_S, 'operation');
  const requests = histogram(
    'service_request_seconds',
    'Time of requests to the hosting service',
    QUICK_S,
    ...(['method', 'status_class'] as const),
  );
  const tokenAccepted = gauge('token_accepted', 'Whether the service accepted the API token in its last answer');
  const clock = gauge('clock_offset_seconds', "How far this machine's clock is ahead of Temporal's");
  const policy = gauge('policy_file_good', 'Whether the last change of belay.yaml was read without a mistake');
  policy.set(1);
  new Gauge({
    name: 'belay_build_info',
    help: 'Always 1',
    labelNames: ['version', 'build_id'],
    registers,
  }).set({ version: VERSION, build_id: buildId ?? '' }, 1);

  return {
    runEnded: ({ type, outcome, errorType }: RunEnded) =>
      runs.inc({ type, outcome: outcome ?? 'none', error_type: errorType ?? '' }),
    triggered: (operation: OperationKind, effect: TriggerEffect) => triggers.inc({ operation, effect }),
    /** @param result `answered`, or the kind of the failure. @param lateMs null if the read was not due at a time */
    polled: (operation: OperationKind, result: string, lateMs: number | null) => {
      polls.inc({ operation, result });
      if (lateMs !== null) lateness.observe(lateMs / 1_000);
    },
    lockWaited: (operation: OperationKind, waitedMs: number) => locks.observe({ operation }, waitedMs / 1_000),
    hintDecided: (operation: OperationKind, afterMs: number) => hints.observe({ operation }, afterMs / 1_000),
    requested({ method, status, tookMs }: RequestReport) {
      requests.observe({ method, status_class: classOf(status) }, tookMs / 1_000);
      if (status !== null) tokenAccepted.set(status === UNAUTHORIZED ? 0 : 1);
    },
    clockIs: (aheadMs: number) => clock.set(aheadMs / 1_000),
    policyRead: (isGood: boolean) => policy.set(isGood ? 1 : 0),
    credentialsAre: createCredentialGauges(registry),
    /** Returns the text format of Prometheus. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

const classOf = (status: number | null): string => (status === null ? 'none' : `${Math.floor(status / 100)}xx`);

/* Writes what workflows report into the log and the metrics of the worker that executes them. */

export function metricSinks(metrics: WorkerMetrics, log: Logger): InjectedSinks<MetricSinks> {
  const version = VERSION;
  return {
    belay: {
      triggered: {
        fn({ workflowId, runId }, { effect, message, ...subject }) {
          metrics.triggered(subject.operation, effect);
          const line = { workflowId, runId, ...subject, version, effect };
          if (effect === 'accepted') log.info(line, 'the service accepted the request');
          else log.warn({ ...line, reason: plainText(message ?? '') }, 'the request was not accepted');
        },
      },
      operationEnded: {
        fn: ({ workflowId, runId }, ended) => log.info({ workflowId, runId, ...ended, version }, 'operation ended'),
      },
      runEnded: {
        fn({ workflowId, runId }, ended) {
          metrics.runEnded(ended);
          log.info({ workflowId, runId, ...ended, version }, 'run ended');
        },
      },
      lockWaited: { fn: (_info, { operation, waitedMs }) => metrics.lockWaited(operation, waitedMs) },
      hintDecided: { fn: (_info, { operation, afterMs }) => metrics.hintDecided(operation, afterMs) },
    },
  };
}
