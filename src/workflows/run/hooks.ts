/** What hangs on a run. The core asks the members of these lists in their order, and knows none of them. */
import type { DeploySiteInput, Execution } from '../../contract/operation.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import type { Target } from '../../contract/target.ts';
import type { Conclusion } from '../conclusion.ts';
import type { RunState } from './run-state.ts';

export type RunPart = { kind: 'backup'; serverId: string } | { kind: 'deployment'; target: Target };

/** Something that may keep a run, or a part of it, from beginning. */
export interface Hold {
  /** Why the run cannot begin, by what the worker said of it. It is asked before the service is. */
  refuse?(): Conclusion | null;
  /** Whether people still have to decide about the run. Until then, it must not replace another one. */
  awaitsPeople?(): boolean;
  /**
   * Waits until the run may begin, after its targets were read. `waited`: time has passed, so the holds before this one are
   * asked again, and the targets are read again.
   */
  begin?(awaitsPeople: boolean): Promise<Conclusion | 'waited' | null>;
  /** Until when the run may begin, in milliseconds since 1970. Default: no limit. */
  untilMs?(): number;
  refusePart?(part: RunPart): Conclusion | null;
  /** Whether this is what ended a part before its request left, and the part may begin later. */
  reopens?(end: Conclusion): boolean;
  /** Waits until the part may begin. Required beside `reopens`. */
  wait?(part: RunPart): Promise<Conclusion | null>;
  carries?(part: RunPart): Partial<DeploySiteInput>;
  /** Called when a deployment is about to be started, was started, or could not be started. */
  deploys?(child: 'starting' | Execution | null): void;
  /** Called when a deployment has ended, or did not get its lock. */
  deployed?(ended: DeploymentResult): void;
}

/** Something that judges a deployment that the service calls completed. */
export interface RunCheck {
  begun?(): void;
  carries(target: Target): Partial<DeploySiteInput>;
  /** @returns how the deployment ended */
  judge(ended: DeploymentResult): Conclusion;
  ended?(): void;
}

/** Something that looks on. It changes nothing. */
export interface Observer {
  /** Called once the worker is known, before the run can be refused. */
  begun?(): Promise<void>;
  /** The run entered another phase. */
  moved?(): void;
  /** Anything that the run shows has changed. */
  changed?(): void;
  ended?(): Promise<void>;
}

export interface RunHooks {
  holds: readonly ((run: RunState) => Hold)[];
  checks: readonly ((run: RunState) => RunCheck)[];
  observers: readonly ((run: RunState) => Observer)[];
}
