/** The runs of a trace of deployment.qnt: they deploy one site, and hold its lock one after another. */
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { WorkerInfo } from '../../../src/contract/activities.ts';
import { actFromOutside } from '../../../src/sandbox/controls.ts';
import type { SandboxOperation } from '../../../src/sandbox/state.ts';
import type { Sandboxes } from '../../sim/core/sdk.ts';
import { startRun } from '../../sim/plays/start-run.ts';
import type { Run } from '../../sim/temporal/types.ts';
import type { Plan } from './deployment-plan.ts';
import { createStage, isQuiet, type Stage } from './stage.ts';

/** A tick without an answered read is a gap: it is longer than the interval and the slack together. */
export const TICK_MS = 16_000;
const [INTERVAL_MS, SETTLE_MS, TRIES] = [10_000, 30_000, 100];
/** Longer than a request may be sent again. */
export const TOO_LONG_S = (10 * (TRIES * INTERVAL_MS)) / 1_000;

export interface DeploymentStage extends Stage {
  readonly runs: Map<number, Run>;
  begin(number: number): void;
  operationOf(number: number): Run | undefined;
  /** Requests of a run, as the service has received them. */
  requestsOf(number: number): number;
  /** In the order in which they began. */
  deployments(): SandboxOperation[];
  /** The holder's operation may go on. */
  open(number: number, what: string, isDone: () => boolean): Promise<void>;
  /** Only time passes, for an operation that is held back. */
  wait(ms: number): Promise<void>;
  isQuiet(run: Run): boolean;
  /** Whether the service answers reads. */
  answers(isAnswering: boolean): void;
}

const SITE = 'a1';
const LOCK_ID = deploySiteId(SITE);
/** Each deployment ends with a word of its own, so that no status is like the one before. */
export const wordOf = (index: number): string => `done-${index}`;
const STATUSES: WorkerInfo['statuses'] = {
  deployment: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [wordOf(index), 'completed' as const])),
  backup: {},
};

export function createDeploymentStage(sandboxes: Sandboxes, plan: Plan): DeploymentStage {
  const stage = createStage(sandboxes, { defaults: { deployment: { ends: 'never' } }, statuses: STATUSES });
  const { server, service, clock } = stage.world;
  const { state } = service;
  const site = { type: 'site', id: SITE } as const;
  const runs = new Map<number, Run>();
  const isHeld = ({ workflowId }: Run) => workflowId === LOCK_ID;
  // The site was deployed before.
  state.script(site, [
    { durationMs: 0, ends: 'completed' },
    { ends: 'never', lagMs: 10 ** 9 },
  ]);
  actFromOutside(state, site);
  const deployments: SandboxOperation[] = [];
  const begin = state.begin.bind(state);
  state.begin = (on) => {
    const it = begin(on);
    deployments.push(it);
    return it;
  };
  return {
    ...stage,
    runs,
    begin(number) {
      const deploy = { intervalMs: INTERVAL_MS, settleMs: SETTLE_MS, tries: TRIES };
      const withinMs = plan.deadlineMs === null ? null : Math.max(1, plan.deadlineMs - clock.nowMs);
      const limits = withinMs === null ? {} : { startDeploysWithinMs: withinMs };
      const ifBusy = plan.failing.has(number) ? 'fail' : 'wait';
      runs.set(number, startRun(server, { siteIds: [SITE], deploy, ifBusy, ...limits }, `k${number}`));
    },
    operationOf: (number) =>
      server.runs.find((run) => run.workflowId === LOCK_ID && run.parent?.runId === runs.get(number)?.runId),
    requestsOf(number) {
      const key = `${runs.get(number)?.runId}:`;
      return state.journal.filter((it) => it.idempotencyKey?.startsWith(key) === true).length;
    },
    deployments: () => deployments,
    open: (number, what, isDone) => stage.let(`operation of run ${number}: ${what}`, () => true, isDone),
    async wait(ms) {
      let isOver = false;
      clock.after(ms, () => (isOver = true));
      await stage.let(
        `${ms} ms`,
        ({ run }) => !isHeld(run),
        () => isOver,
      );
    },
    isQuiet: (run) => isQuiet(run, () => false),
    answers: (isAnswering) => void (service.isFailing = !isAnswering),
  };
}
