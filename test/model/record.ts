/** The record of a played scenario, which the judge reads. */
import type { OverrideRule } from '../../src/features/freezes/shapes.ts';
import type { RunInput, RunResult } from '../../src/contract/run.ts';
import type { RunType } from '../../src/contract/names.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import type { JournalEntry } from '../../src/sandbox/state.ts';
import type { AnswersDraw } from './answer-draws.ts';
import type { Deed } from './batch.ts';

export interface Played {
  /** By the actual id of a site or server. */
  scripts: Record<string, ScriptPart[]>;
  journal: JournalEntry[];
  runs: PlayedRun[];
  freezes?: PlayedFreeze[];
  /** Sites that have a check. */
  checked?: string[];
  /** By the actual id of a target. */
  answers?: AnswersDraw[];
  operations: PlayedOperation[];
  /** The faults of workers and server during the play. */
  deeds: Done[];
  /** When the service could not be reached. The journal does not show requests that were made then. */
  outages?: Pick<Done, 'fromMs' | 'toMs'>[];
}

/** A freeze that held, by Temporal's clock. */
export interface PlayedFreeze {
  /** As runs name it to be let off. */
  name: string;
  target: string;
  fromMs: number;
  toMs: number;
  backups: boolean;
  override: OverrideRule;
}

export interface PlayedRun {
  type: RunType;
  workflowId: string;
  runId: string;
  input: RunInput;
  startedMs: number;
  /** Null if its cancellation was never requested. */
  cancelledMs: number | null;
  closedMs: number | null;
  result: RunResult | null;
  /** The number of waits for it that ended without a request. */
  waitsEnded: string[];
}

/** An execution of `backupServer` or `deploySite`, as Temporal lists it. */
export interface PlayedOperation {
  workflowId: string;
  /** The id of the run that started it. */
  parentRunId: string | null;
  closedMs: number | null;
  /** By an operator: its request may have been under way. */
  isTerminated: boolean;
}

export interface Done {
  what: Deed['what'];
  /** The requested duration. Recovery takes longer. */
  forMs: number;
  fromMs: number;
  /** When it was undone. */
  toMs: number;
}
