/** What is reported to other places while a run is in flight. Stored in running histories: add, never rename or remove. */
import type { FactName } from '../../contract/facts.ts';
import type { Target } from '../../contract/target.ts';

/**
 * `waiting`: it has not begun, or waits for people or a freeze. `unclear`: its outcome is not known, or it took too long.
 * `cancelled`: a person or a rule kept it from going on. `refused`: it was not started for any other reason.
 */
export type ReportedState = 'waiting' | 'begun' | 'completed' | 'failed' | 'unclear' | 'cancelled' | 'refused';

export interface StateReport {
  state: ReportedState;
  /** One line. */
  text: string;
}

/** Of a run, at one moment. The latest one counts: signals may arrive in another order. */
export interface ReportedRun {
  atMs: number;
  /** Orders those of one moment. */
  seq: number;
  isEnd: boolean;
  run: StateReport;
  /** Of its targets, by the ids of their locks. Absent: as the run. */
  parts: Record<string, StateReport>;
}

/** A place of `notify.reports`, and the target that is reported to it. */
export interface ReportPlace {
  report: string;
  target: Target;
}

export interface ReportInput {
  workflowId: string;
  /** Of the run's first execution: a reset keeps it. */
  firstRunId: string;
  /** A heartbeat that gets the start, too. */
  heartbeat: string | null;
  places: ReportPlace[];
  /** In full; null without places. */
  commit: string | null;
  state: ReportedRun;
}

export type ReportTo =
  { kind: 'heartbeat'; name: string } | { kind: 'report'; name: string; target: Target; commit: string };

export interface ReportMessage {
  workflowId: string;
  firstRunId: string;
  to: ReportTo;
  reported: StateReport;
  /** The last one of this receiver. */
  note?: ReportNote;
}

/** What a receiver has to be given again, so that it makes nothing twice: what it had before, or what is this run's. */
export type ReportNote = { after: number } | { id: number };

/** Why a receiver did not take it is a value, because the next state may be another one. */
export type ReportAnswer =
  | { kind: 'taken'; note?: ReportNote }
  /** Another worker may have it in its belay.yaml. */
  | { kind: 'unknown' }
  | { kind: 'refused'; message: string }
  | { kind: 'later'; message: string; afterMs: number | null; note?: ReportNote };

export interface RunRef {
  workflowId: string;
  firstRunId: string;
}

export type RunEnd = Pick<ReportedRun, 'run' | 'parts'>;

/** Only of a run: where it reports its targets while it runs. */
export const REPORTS_FACT: FactName<ReportPlace[]> = { name: 'reports' };

/* Commits as people write them: 7 to 64 hex digits. Pure. */

export const COMMIT = /^[0-9a-f]{7,64}$/i;

/** As repositories name it. */
export const FULL_COMMIT = /^[0-9a-f]{40}$/i;

const SHOWN_LENGTH = 12;

/** For messages. */
export const commitText = (commit: string): string => commit.slice(0, SHOWN_LENGTH);
