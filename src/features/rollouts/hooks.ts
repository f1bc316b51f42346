/** What hangs on a rollout. The rollout asks the members of a list in their order, and knows none of them. */
import type { WorkerInfo } from '../../contract/activities.ts';
import type { ErrorType, Outcome } from '../../contract/names.ts';
import type { RunInput, RunPlan, RunResult } from '../../contract/run.ts';
import type { RolloutWaiting } from '../../contract/waiting.ts';
import type { Conclusion } from '../../workflows/conclusion.ts';
import type { Step } from './rules.ts';
import type { Decision, RolloutInput, RolloutPhase, RolloutResult, TargetResult } from './shapes.ts';

export interface RolloutState {
  readonly input: RolloutInput;
  readonly plan: RunPlan;
  /** The whole answer of the worker that checked the rollout. */
  readonly facts: WorkerInfo;
  readonly result: RolloutResult;
  readonly hooks: readonly RolloutHook[];
  /** How a hook stopped the rollout. Null if none did. */
  readonly stopped: Conclusion | null;
  /** How many failures a person has accepted by a resume. */
  acceptedFailures: number;
  /** Whether it is cancelled, or starts no more servers. */
  readonly isOver: () => boolean;
  next(): Step;
  lastPause(): Decision | undefined;
  setPhase(phase: RolloutPhase): void;
  decide(action: Decision['action'], by: string, reason: string): void;
  /** Tells people that it is paused. */
  announcePause(): void;
  /** Records that the rollout starts no more servers. It ends with `end`, unless a person aborts it as well. */
  stop(by: string, end: Stop): void;
  /**
   * A rollout that was restored does not know that it started a server before, so it starts none.
   *
   * @param epoch as a worker knows it now
   * @returns whether it was restored
   */
  stopIfRestored(epoch: string): boolean;
  /** Call it after each change of what the rollout shows. */
  refresh(): void;
}

export interface Stop {
  outcome: Outcome;
  type: ErrorType;
  reason: string;
}

export interface RolloutHook {
  /** Called once the worker is known, before the rollout can be refused. */
  begun?(): void;
  /** Why no server may start, by what the worker said. */
  refuse?(): Conclusion | null;
  /** Waits until the first server may start. @returns why none may */
  begin?(): Promise<Conclusion | null>;
  /** Waits until a server may start. @returns false if the rollout has to decide again what comes next */
  mayStart?(target: TargetResult): Promise<boolean>;
  starts?(target: TargetResult): void;
  /** What it adds to the input of a server's run. */
  carries?(target: TargetResult): Partial<RunInput>;
  serverEnded?(target: TargetResult, run: RunResult): void;
  /** Whether a wave has ended, and something has to pass before the next one begins or the rollout ends. */
  isDue?(): boolean;
  /** Resolves once the rollout may continue, or once it starts nothing more. */
  pass?(): Promise<void>;
  /** What the rollout waits for because of this. */
  waiting?(): RolloutWaiting | null;
  /** The phase that a resume returns to, while something is open here. It then decides nothing about held servers. */
  openPhase?(): RolloutPhase | null;
  /** Whether this alone has paused the rollout, which then resumes by itself. A person may pause it as well. */
  mayHeal?(): boolean;
  /** Why no person can resume the rollout now. */
  whyNotResumed?(): string | null;
  /** What has failed here, while people decide about it. The rollout ends with this if they abort it. */
  failed?(): Stop | null;
  paused?(): void;
  ended?(): Promise<void>;
}

export type RolloutHooks = readonly ((rollout: RolloutState) => RolloutHook)[];
