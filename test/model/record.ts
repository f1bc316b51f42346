/** What a played scenario leaves behind: all that is judged. */
import type { RunInput, RunResult, RunType } from '../../src/contract/run.ts';
import type { ScriptPart } from '../../src/sandbox/hosting/script.ts';
import type { JournalEntry } from '../../src/sandbox/hosting/state.ts';
import type { Deed } from './batch.ts';

export interface Played {
  /** By the real id of a site or server. */
  scripts: Record<string, ScriptPart[]>;
  journal: JournalEntry[];
  runs: PlayedRun[];
  operations: PlayedOperation[];
  /** What was done to workers and server while it was played. */
  deeds: Done[];
}

export interface PlayedRun {
  type: RunType;
  workflowId: string;
  runId: string;
  input: RunInput;
  startedMs: number;
  /** Null where its cancellation was never asked for. */
  cancelledMs: number | null;
  closedMs: number | null;
  result: RunResult | null;
  /** Waits for it that ended though nobody asked for that. */
  waitsEnded: string[];
}

/** An execution of `backupServer` or `deploySite`, as Temporal lists it. */
export interface PlayedOperation {
  workflowId: string;
  /** Of the run that started it. */
  parentRunId: string | null;
  closedMs: number | null;
}

export interface Done {
  what: Deed['what'];
  /** What was asked for; it takes longer until all is up again. */
  forMs: number;
  fromMs: number;
  /** Until it was undone. */
  toMs: number;
}
