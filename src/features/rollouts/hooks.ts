/** The hooks of a rollout. It calls the members of each list in order. */
import type { WorkerInfo } from '../../contract/activities.ts';
import type { TargetResult } from './shapes.ts';
import type { Conclusion } from '../../workflows/conclusion.ts';
import type { RolloutState } from './state.ts';

export type IsCancelled = () => boolean;

interface Admitting {
  /** Judges what the worker said. @returns why no server may start, or null */
  admit?: (
    rollout: RolloutState,
    facts: WorkerInfo,
    isCancelled: IsCancelled,
  ) => Conclusion | null | Promise<Conclusion | null>;
}

/** Something that may keep a server from starting. */
export interface BeforeServer extends Admitting {
  /** Waits until the server may start. @returns false if the rollout has to decide again what comes next */
  mayBegin: (rollout: RolloutState, target: TargetResult, isCancelled: IsCancelled) => Promise<boolean>;
  ended?: (rollout: RolloutState, target: TargetResult) => void;
}

/** Something that has to pass after a wave, before the next wave begins and before the rollout ends. */
export interface AfterWave extends Admitting {
  isDue: (rollout: RolloutState) => boolean;
  /** Resolves once the rollout may continue, or once it starts nothing more. */
  pass: (rollout: RolloutState, isCancelled: IsCancelled, announcePause: () => void) => Promise<void>;
}

export interface RolloutHooks {
  afterWave: readonly AfterWave[];
  beforeServer: readonly BeforeServer[];
}
