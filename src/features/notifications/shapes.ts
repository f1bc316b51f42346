/**
 * Notifications, and what Belay reports to other places while a run is in flight. Running histories store these shapes:
 * add, never rename or remove.
 */
import type { FactName } from '../../contract/facts.ts';
import type { RunResult } from '../../contract/run.ts';
import type { Target } from '../../contract/target.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import type { ServiceEvent } from '../events/shapes.ts';

export type Notification =
  | {
      kind: 'event';
      id: string;
      source: string;
      verified: boolean;
      receivedAt: string;
      event: ServiceEvent;
      /** The event was handled too late to cause anything else. Absent otherwise. */
      late?: true;
      /** The workers serve this other service, so the event caused nothing else. */
      otherThan?: string;
    }
  | {
      kind: 'run';
      id: string;
      result: RunResult;
      /** How many deployments `result` leaves out. */
      leftOut: number;
      /** The id of the schedule that this end pauses. */
      pausesSchedule?: string;
    }
  | ApprovalNotice
  | {
      kind: 'rollout';
      id: string;
      result: RolloutResult;
      /** How many servers `result` leaves out. */
      leftOut: number;
      /** The id of the schedule that this end pauses. */
      pausesSchedule?: string;
    };

export interface NotifyInput {
  channel: string;
  notification: Notification;
}

/** Input of the child that sends notifications. It outlives its parent, so that no verdict waits for a delivery. */
export interface SendNotificationsInput {
  notification: Notification;
  channels: string[];
  heartbeat: string | null;
}

/** Asks people to approve something, reminds them, or tells them that it was approved. */
export interface ApprovalNotice {
  kind: 'approval';
  id: string;
  about: 'asked' | 'half_time' | 'approved';
  workflowId: string;
  runId: string;
  /** A sentence with what is missing and the command that approves. */
  sentence: string;
  /** What people approve, one fact per line. */
  text: string;
  links: { ui: string | null };
}

/* Reports. */

/**
 * `waiting`: the run has not begun, or waits for people or a freeze. `unclear`: its outcome is not known, or it took
 * too long. `cancelled`: a person or a rule kept it from continuing. `refused`: it was not started for any other
 * reason.
 */
export type ReportedState = 'waiting' | 'begun' | 'completed' | 'failed' | 'unclear' | 'cancelled' | 'refused';

export interface StateReport {
  state: ReportedState;
  /** One line for people. */
  text: string;
}

/** The state of a run at one moment. Signals may arrive in any order, so the latest state of each target counts. */
export interface ReportedRun {
  atMs: number;
  /** Orders states of the same moment. */
  seq: number;
  isEnd: boolean;
  run: StateReport;
  /**
   * By lock id. At the start and at the end, these are the states of all its targets, and a target without an entry has
   * the state of the run. In between, these are only those that changed: 1,000 sites would fill the history otherwise.
   */
  parts: Record<string, StateReport>;
}

/** A place of `notify.reports`, and the target that is reported there. */
export interface ReportPlace {
  report: string;
  target: Target;
}

export interface RunRef {
  workflowId: string;
  /** Run id of the run's first execution, which a reset keeps. */
  firstRunId: string;
}

export interface ReportInput extends RunRef {
  /** A heartbeat that is also told the start. Null if there is none. */
  heartbeat: string | null;
  places: ReportPlace[];
  /** The full commit. Null without places. */
  commit: string | null;
  state: ReportedRun;
}

export type ReportTo =
  { kind: 'heartbeat'; name: string } | { kind: 'report'; name: string; target: Target; commit: string };

export interface ReportMessage extends RunRef {
  to: ReportTo;
  reported: StateReport;
  /** The note that this receiver's last answer carried. */
  note?: ReportNote;
}

/**
 * What a receiver needs to recognize what it made before a lost answer: the newest deployment before this run, or this
 * run's own.
 */
export type ReportNote = { after: number } | { id: number };

/** A refusal is a value and no failure, because the next state may be accepted. */
export type ReportAnswer =
  | { kind: 'taken'; note?: ReportNote }
  /** Another worker may have the receiver in its belay.yaml. */
  | { kind: 'unknown' }
  | { kind: 'refused'; message: string }
  | { kind: 'later'; message: string; afterMs: number | null; note?: ReportNote };

export type RunEnd = Pick<ReportedRun, 'run' | 'parts'>;

/** Workers answer this only to runs that report their targets somewhere. */
export const REPORTS_FACT: FactName<ReportPlace[]> = { name: 'reports' };
