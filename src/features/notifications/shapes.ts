/** Notifications. Running histories store these shapes: add, never rename or remove. */
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
