/** One read outside a poll loop. A rate limit must not pass for an answer, so the read is made again after it. */
import { condition } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Cancellation } from '../common/cancellation.ts';
import { heldBackUntilMs } from '../rules/read-failures.ts';
import type { Reader } from './status-reader.ts';

/** @returns the answer, or the last failure once no time is left or the run is cancelled */
export async function readOnce(
  { cancellation }: { cancellation: Cancellation },
  read: Reader,
  summary: string,
): Promise<ReadResult> {
  const endsMs = Date.now() + TIMING.poll.minWholeMs;
  for (;;) {
    const answer = await read(summary);
    const nowMs = Date.now();
    const againMs = heldBackUntilMs(answer, nowMs);
    if (againMs === null || againMs > endsMs || cancellation.requested) return answer;
    await condition(() => cancellation.requested, Math.max(1, againMs - nowMs), {
      summary: 'held back by a rate limit',
    });
  }
}
