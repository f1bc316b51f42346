/**
 * Keeps a history short enough. Temporal terminates a workflow at its limit of events, which would free the lock under a
 * live deployment.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';

/** Whether the workflow may begin something that adds many events, such as another request. */
export const hasRoom = (): boolean => workflowInfo().historyLength < HISTORY_BUDGET.sparesFromEvents;

/** Whether to do seldom, or not at all, what the workflow can do without. */
export const sparesHistory = (): boolean => !hasRoom() && patched('spares-history');
