/**
 * Belay as a library: start runs, wait for their verdicts, read their status and cancel them. It needs Temporal, but no
 * API token: only the worker holds that.
 */
export type {
  BackupResult,
  BackupSource,
  DeploymentResult,
  RunError,
  RunInput,
  RunResult,
  TriggerReport,
} from './contract/run.ts';
export type { Target, TargetsInput } from './contract/target.ts';
export type { ErrorType, Evidence, Outcome, Phase, RunType } from './contract/names.ts';
export type { Waiting } from './contract/waiting.ts';
export type {
  DecisionInput,
  RolloutInput,
  RolloutPhase,
  RolloutResult,
  RolloutTarget,
  RolloutWave,
  RunOptions,
  OutcomeCounts,
  TargetResult,
} from './contract/rollout.ts';
export type { RolloutWaiting, Explanation } from './contract/waiting.ts';
export type { EventInput, EventKind, EventResult, Reaction, ServiceEvent } from './contract/events/event.ts';
export { planRollout } from './config/plan/plan-rollout.ts';
export { planSchedules } from './config/plan/plan-schedules.ts';
export { readConfiguration, type Configuration } from './config/load.ts';
export { connect, type Belay, type ConnectOptions } from './client/connect.ts';
export { BelayError } from './contract/results/belay-error.ts';
export { exitCodeOf } from './contract/results/exit-codes.ts';
export type { Rollout } from './client/rollouts/rollout-handle.ts';
export type { RolloutStatus } from './client/rollouts/rollout-status.ts';
export type { RolloutFilter, Rollouts } from './client/rollouts/rollouts.ts';
export type { OperationAdvice, Subject } from './rules/past/advice.ts';
export type { Budget, Slowdown } from './rules/past/advise.ts';
export type { AdviceFilter } from './client/past/advise.ts';
export type { EventDetails, EventFilter, ReceivedEvent } from './client/events/list-events.ts';
export type { InFlight } from './client/overview/in-flight.ts';
export type { LiveOverview, Overview, OverviewOptions } from './client/overview/live-overview.ts';
export type { RunFilter } from './client/runs/list-runs.ts';
export type { Run } from './client/runs/run-handle.ts';
export type { WaitOptions } from './client/connection/await-result.ts';
export type { Firing, ScheduleState } from './client/schedules/schedule-state.ts';
export type { ScheduleChange } from './client/schedules/plan-changes.ts';
export type { Approvals } from './client/approvals/approvals.ts';
export type { Receipts } from './client/receipts/receipts.ts';
export type { Receipt, ReceiptEntry } from './contract/receipt.ts';
export type { BegunFreeze, Freezes, Thawed } from './client/freezes/freezes.ts';
export type { HeldLock } from './client/locks/held-locks.ts';
export type { NewFreeze } from './request/plan-freeze.ts';
export type { ApprovalAnswer, ApprovalPlan, ApprovalQuestion, AskingRun } from './contract/approval.ts';
export { signedText } from './contract/wording/approval-text.ts';
export type { AdHocFreeze, FreezeScope, FrozenBy, RunningFreeze } from './contract/freeze.ts';
export type { Schedules } from './client/schedules/schedules.ts';
export type { ScheduleDefinition } from './contract/schedule.ts';
export type { StartOptions } from './client/runs/start-run.ts';
export type { Contact, RunStatus } from './client/runs/run-status.ts';
