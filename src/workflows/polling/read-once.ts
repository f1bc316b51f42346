/** Reads outside a poll loop. A rate limit must not pass for an answer, so a read that it delays is made again. */
import { condition } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Cancellation } from '../cancellation.ts';
import { heldBackUntilMs } from '../../rules/read-failures.ts';
import type { Reader } from './status-reader.ts';

/**
 * @param summary shown in the UI
 * @returns the answer, or the last failure once no time is left or the run is cancelled
 */
export async function readOnce(
  { cancellation }: { cancellation: Cancellation },
  reader: Reader,
  summary: string,
): Promise<ReadResult> {
  const endsMs = Date.now() + TIMING.poll.minWholeMs;
  for (;;) {
    const answer = await reader.read(summary);
    const nowMs = Date.now();
    const againMs = heldBackUntilMs(answer, nowMs);
    if (againMs === null || againMs > endsMs || cancellation.requested) return answer;
    await condition(() => cancellation.requested, Math.max(1, againMs - nowMs), {
      summary: 'held back by a rate limit',
    });
  }
}
