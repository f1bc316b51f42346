/**
 * Keeps a history short enough. Temporal terminates a workflow at its limit of events, which would free the lock under a
 * live deployment.
 */
import { workflowInfo } from '@temporalio/workflow';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';

/** Whether the workflow may begin something that adds many events, such as another request. */
export const hasRoom = (): boolean => workflowInfo().historyLength < HISTORY_BUDGET.sparesFromEvents;
