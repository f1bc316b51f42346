/** Notifications. Stored in running histories: add, never rename or remove. */
import type { RunResult } from '../../contract/run.ts';
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
      /** It was handled too late to cause anything else. */
      late?: true;
      /** It is of another service than this one, which the workers serve, so it caused nothing else. */
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

/** People are asked to approve something, are reminded of it, or did. */
export interface ApprovalNotice {
  kind: 'approval';
  id: string;
  about: 'asked' | 'half_time' | 'approved';
  workflowId: string;
  runId: string;
  /** What it waits for, and the command that approves it. */
  sentence: string;
  /** What is approved, one fact per line. */
  text: string;
  links: { ui: string | null };
}
