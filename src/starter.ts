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
} from './contract.ts';
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
} from './fleet-contract.ts';
export type { EventInput, EventKind, Reaction, ServiceEvent } from './event-contract.ts';
export { planRollout } from './fleets/plan-rollout.ts';
export { planSchedules } from './schedules/definition.ts';
export { readConfiguration, type Configuration } from './configuration/read.ts';
export { connect, type Belay, type ConnectOptions } from './starter/connect.ts';
export { BelayError } from './starter/belay-error.ts';
export type { Rollout, RolloutStatus } from './starter/rollout.ts';
export type { RolloutFilter, Rollouts } from './starter/rollouts.ts';
export type { EventFilter, TakenEvent } from './starter/events.ts';
export type { RunFilter } from './starter/list.ts';
export type { Run, WaitOptions } from './starter/run.ts';
export type { Firing, ScheduleChange, Schedules, ScheduleState } from './starter/schedules.ts';
export type { ScheduleDefinition } from './schedules/definition.ts';
export type { StartOptions } from './starter/start.ts';
export type { Contact, RunStatus } from './starter/status.ts';
