/**
 * What a workflow reports to the worker that executes it, for logs and metrics. It decides nothing and is not stored.
 */
import type { Evidence, ErrorType, Outcome } from './names.ts';

export const OPERATION_KINDS = ['backup', 'deployment'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/**
 * The subject of a report. `operation` tells a backup from a deployment, so the fields of the other kind are absent.
 */
export interface Subject {
  operation: OperationKind;
  server?: string;
  site?: string;
  app?: string;
}

/**
 * What a request did at the service. `refused`: the service rejected it. `not_sent`: certainly nothing. `reset`: it was
 * kept back, because an earlier execution may have sent it.
 */
export const TRIGGER_EFFECTS = ['accepted', 'refused', 'not_sent', 'unknown', 'reset'] as const;
export type TriggerEffect = (typeof TRIGGER_EFFECTS)[number];

/** These are sinks of the SDK: they run on the worker's main thread, and not in a replay. */
export type MetricSinks = {
  belay: {
    triggered: (it: Triggered) => void;
    operationEnded: (it: OperationEnded) => void;
    runEnded: (it: RunEnded) => void;
    lockWaited: (it: { operation: OperationKind; waitedMs: number }) => void;
    /** Called if a read that followed a hint ended the wait. */
    hintDecided: (it: { operation: OperationKind; afterMs: number }) => void;
  };
};

interface Triggered extends Subject {
  effect: TriggerEffect;
  message: string | null;
}

interface OperationEnded extends Subject {
  outcome: Outcome | null;
  errorType: ErrorType | null;
  lastStatus: string | null;
  polls: number;
  /** Present for deployments only. */
  evidence?: Evidence | null;
}

/** The end of a run or rollout. */
export interface RunEnded {
  type: string;
  outcome: Outcome | null;
  errorType: ErrorType | null;
}
