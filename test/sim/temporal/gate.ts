/** Lets a test decide what goes on, and when. */
import type { Run } from './types.ts';

/** A workflow task or an activity that a worker would take now, or a child that the server would start now. */
export type Passing =
  | { kind: 'task'; run: Run }
  | { kind: 'activity'; run: Run; type: string }
  | { kind: 'child'; run: Run; workflowId: string };

export interface Gate {
  /** Calls `goOn`, now or later. What has become void meanwhile does nothing then. */
  pass(it: Passing, goOn: () => void): void;
}

export const OPEN: Gate = { pass: (_it, goOn) => goOn() };
