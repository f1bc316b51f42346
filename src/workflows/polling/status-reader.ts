/**
 * Reads a status from a workflow. A read that may have failed because of its worker is made once more by another worker
 * before it counts.
 */
import { ActivityFailure, TimeoutFailure } from '@temporalio/common';
import { condition } from '@temporalio/workflow';
import { readElsewhere, readOnce } from '../activity-proxies.ts';
import type { DeploymentIdField, ReadFailure, ReadInput, ReadResult } from '../../contract/activities.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { RecordedService } from '../../contract/operation.ts';
import type { PooledWait } from '../../contract/polling.ts';
import { withMeaning } from '../../rules/status-words.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Cancellation } from '../cancellation.ts';
import { heldBackUntilMs } from '../../rules/read-failures.ts';
import { hasRoom } from '../history.ts';

/** After another worker could read, this many reads go to any worker, because this one may take a while to recover. */
const READS_ELSEWHERE = 10;
const UNLESS_RESTING = { unlessResting: true } as const;

export type Reader = ReturnType<typeof readerOf>;

export function readerOf({ service, statuses, deploymentId }: RecordedService, subject: PooledWait['subject']) {
  const idField: DeploymentIdField = 'target' in subject ? definedFields({ deploymentId }) : {};
  const words = 'target' in subject ? statuses.deployment : statuses.backup;
  let readsElsewhere = 0;
  let secondReads = 0;
  const ask = (by: typeof readOnce, summary: string, how: Pick<ReadInput, 'dueMs' | 'unlessResting'>) =>
    'target' in subject
      ? by.readLatestDeployment.executeWithOptions({ summary }, [{ service, ...subject, ...idField, ...how }])
      : by.readBackup.executeWithOptions({ summary }, [{ service, ...subject, ...how }]);
  return {
    reads: { service, subject, words, ...idField },
    /** @param summary shown in the UI; @param dueMs when the read was due; undefined if it was due at no time */
    async read(summary: string, dueMs?: number): Promise<ReadResult> {
      const due = definedFields({ dueMs });
      const asked =
        readsElsewhere > 0 ? ask(readElsewhere, summary, { ...due, ...UNLESS_RESTING }) : ask(readOnce, summary, due);
      const first = await asked.catch(lostRead);
      readsElsewhere = Math.max(0, readsElsewhere - 1);
      if (first.ok || first.ofThisWorker === undefined || secondReads === HISTORY_BUDGET.maxSecondReads)
        return withMeaning(words, first);
      secondReads += 1;
      // If no other worker takes it, the first failure counts.
      const second = await ask(readElsewhere, summary, UNLESS_RESTING).catch(() => first);
      if (second.ok) readsElsewhere = READS_ELSEWHERE;
      return withMeaning(words, second);
    },
  };
}

function lostRead(error: unknown): ReadFailure {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const isTaken = !(cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START');
  return {
    ok: false,
    kind: isTaken ? 'timeout' : 'not_taken',
    httpStatus: null,
    isJson: false,
    retryAfterMs: null,
    message: isTaken ? 'the worker did not finish the read' : 'no worker took the read',
    ofThisWorker: true,
  };
}

/* Reads outside a poll loop. A rate limit must not pass for an answer, so a read that it delays is made again. */

/**
 * @param summary shown in the UI
 * @returns the answer, or the last failure once no time is left or the run is cancelled
 */
export async function readOneStatus(
  { cancellation }: { cancellation: Cancellation },
  reader: Reader,
  summary: string,
): Promise<ReadResult> {
  const endsMs = Date.now() + TIMING.poll.minWholeMs;
  for (;;) {
    const answer = await reader.read(summary);
    const nowMs = Date.now();
    const againMs = heldBackUntilMs(answer, nowMs);
    if (againMs === null || againMs > endsMs || cancellation.requested || !hasRoom()) return answer;
    await condition(() => cancellation.requested, Math.max(1, againMs - nowMs), {
      summary: 'held back by a rate limit',
    });
  }
}
