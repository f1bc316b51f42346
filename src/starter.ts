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
} from './features/rollouts/shapes.ts';
export type { RolloutWaiting, Explanation } from './contract/waiting.ts';
export type { EventInput, EventKind, EventResult, Reaction, ServiceEvent } from './features/events/shapes.ts';
export { planRollout } from './config/rollout-plan.ts';
export { planSchedules } from './features/schedules/config.ts';
export { readConfiguration, type Configuration } from './config/load.ts';
export { connect, type Belay, type ConnectOptions } from './client/connect.ts';
export { BelayError, exitCodeOf } from './contract/errors.ts';
export type { Rollout, RolloutStatus } from './features/rollouts/client-handle.ts';
export type { RolloutFilter, Rollouts } from './features/rollouts/client.ts';
export type { OperationAdvice, AdviceSubject, Budget, Slowdown } from './features/advice/rules.ts';
export type { AdviceFilter } from './features/advice/client.ts';
export type { EventDetails, EventFilter, ReceivedEvent } from './features/events/client.ts';
export type { InFlight, LiveOverview, Overview, OverviewOptions } from './features/overview/client.ts';
export type { RunFilter } from './client/runs/list-runs.ts';
export type { Run } from './client/runs/run-handle.ts';
export type { WaitOptions } from './client/await-result.ts';
export type { Firing, ScheduleState } from './features/schedules/client-state.ts';
export type { PausedBefore, ScheduleChange } from './features/schedules/client.ts';
export type { Approvals } from './features/approvals/client.ts';
export type { Receipts } from './features/receipts/client.ts';
export type { Receipt, ReceiptEntry } from './features/receipts/shapes.ts';
export type { BegunFreeze, Freezes, Thawed } from './features/freezes/client.ts';
export type { HeldLock } from './client/lookups/locks.ts';
export type { NewFreeze } from './features/freezes/request.ts';
export type { ApprovalAnswer, ApprovalPlan, ApprovalQuestion, AskingRun } from './features/approvals/shapes.ts';
export { signedText } from './features/approvals/text.ts';
export type { AdHocFreeze, FreezeScope, FrozenBy, RunningFreeze } from './features/freezes/shapes.ts';
export type { Schedules } from './features/schedules/client.ts';
export type { ScheduleDefinition } from './features/schedules/shapes.ts';
export type { StartOptions } from './client/runs/start-run.ts';
export type { Contact } from './client/runs/run-contact.ts';
export type { RunStatus } from './client/runs/run-status.ts';
