/** Reads outside a poll loop. A rate limit must not pass for an answer, so a read that it delays is made again. */
import { condition } from '@temporalio/workflow';
import type { ReadResult } from '../../contract/activities.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import type { Cancellation } from '../common/cancellation.ts';
import { heldBackUntilMs } from '../../rules/polling/read-failures.ts';
import type { Reader } from './status-reader.ts';

interface Asked {
  reader: Reader;
  /** Shown in the UI. */
  summary: string;
}

interface Reading {
  cancellation: Cancellation;
}

export async function readOnce(reading: Reading, reader: Reader, summary: string): Promise<ReadResult> {
  const [answer] = await readEach(reading, [{ reader, summary }]);
  return answer!;
}

/** @returns the answers in this order, or the last failures once no time is left or the run is cancelled */
export async function readEach({ cancellation }: Reading, asked: readonly Asked[]): Promise<ReadResult[]> {
  const endsMs = Date.now() + TIMING.poll.minWholeMs;
  const answers: ReadResult[] = [];
  let left = asked.map((it, index) => ({ ...it, index }));
  for (;;) {
    // Local activities of one task end one by one, and together in a replay. So nothing follows one before all ended.
    const begun = await Promise.all(left.map(({ reader, summary }) => reader.begin(summary)));
    const finished = left.map(async (it, at) => {
      const answer = await it.reader.finish(it.summary, begun[at] ?? null);
      answers[it.index] = answer;
      return { ...it, againMs: heldBackUntilMs(answer, Date.now()) ?? Infinity };
    });
    const heldBack = (await Promise.all(finished)).filter(({ againMs }) => againMs <= endsMs);
    if (heldBack.length === 0 || cancellation.requested) return answers;
    left = heldBack;
    const nowMs = Date.now();
    const againMs = Math.max(...heldBack.map((it) => it.againMs));
    await condition(() => cancellation.requested, Math.max(1, againMs - nowMs), {
      summary: 'held back by a rate limit',
    });
  }
}
