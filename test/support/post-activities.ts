/** The activities that send a POST, in the histories of operations. */
import type proto from '@temporalio/proto';
import type { Activities } from '../../src/activities/index.ts';

export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

const NAMES: readonly string[] = ['createBackup', 'triggerDeployment'] satisfies (keyof Activities)[];

export const isPost = (activity?: { name?: string | null } | null): boolean => NAMES.includes(activity?.name ?? '');

export const schedulesPost = ({ activityTaskScheduledEventAttributes: it }: HistoryEvent): boolean =>
  isPost(it?.activityType);
