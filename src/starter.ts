/**
 * Belay for programs: start runs, wait for their verdicts, look at them, cancel them. Needs Temporal, no token of the
 * service: that belongs to the worker alone.
 */
export type {
  BackupResult,
  BackupSource,
  DeploymentResult,
  ErrorType,
  Evidence,
  Outcome,
  Phase,
  RunError,
  RunInput,
  RunResult,
  RunType,
  TriggerReport,
  Waiting,
} from './contract/run.ts';
export type {
  DecisionInput,
  RolloutInput,
  RolloutPhase,
  RolloutResult,
  RolloutTarget,
  RolloutWaiting,
  RolloutWave,
  RunOptions,
  Sum,
  TargetResult,
  Why,
} from './contract/rollout.ts';
export type { EventInput, EventKind, Reaction, ServiceEvent } from './contract/event.ts';
export { planRollout } from './config/plan/plan-rollout.ts';
export { planSchedules } from './config/plan/plan-schedules.ts';
export { readConfiguration, type Configuration } from './config/load.ts';
export { connect, type Belay, type ConnectOptions } from './client/connect.ts';
export { BelayError } from './contract/results/belay-error.ts';
export type { Rollout, RolloutStatus } from './client/rollouts/rollout-handle.ts';
export type { RolloutFilter, Rollouts } from './client/rollouts/rollouts.ts';
export type { EventFilter, TakenEvent } from './client/events/list-events.ts';
export type { RunFilter } from './client/runs/list-runs.ts';
export type { Run, WaitOptions } from './client/runs/run-handle.ts';
export type { Firing, ScheduleChange, Schedules, ScheduleState } from './client/schedules/schedules.ts';
export type { ScheduleDefinition } from './config/plan/plan-schedules.ts';
export type { StartOptions } from './client/runs/start-run.ts';
export type { Contact, RunStatus } from './client/runs/run-status.ts';
