/** The reads of a site in the history of its deployment. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { SiteRead } from '../../../src/features/site-checks/shapes.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Run } from '../temporal/types.ts';

export interface RecordedSiteRead {
  /** `look`: beside the reads of the status. `verify`: after the service has reported `completed`. */
  stage: 'baseline' | 'look' | 'verify' | 'message';
  scheduledId: number;
  /** Null if no worker finished it. */
  read: SiteRead | null;
}

const STAGES: Record<string, RecordedSiteRead['stage']> = {
  'before the request': 'baseline',
  'while its status decides nothing': 'look',
  'for the message': 'message',
};

/** In the order of their answers. */
export const recordedSiteReads = ({ history }: Pick<Run, 'history'>): RecordedSiteRead[] =>
  history.flatMap((event) => {
    if (event.kind !== 'activityClosed' || event.type !== 'checkSite') return [];
    const { outcome, scheduledId } = event;
    const isAnswered = 'result' in outcome && outcome.result !== null;
    const read = isAnswered ? payloads.fromPayload<SiteRead>(outcome.result!) : null;
    return [{ stage: stageOf(history[scheduledId - 1]!), scheduledId, read }];
  });

function stageOf(scheduled: HistoryEvent): RecordedSiteRead['stage'] {
  if (scheduled.kind !== 'activityScheduled' || scheduled.summary === null)
    throw new Error('a read of a site is named');
  const [, what = ''] = /^check \S+ of \S+: (.*)$/.exec(payloads.fromPayload<string>(scheduled.summary)) ?? [];
  return STAGES[what] ?? 'verify';
}
