/** What every start of a run or rollout has in common: a key, an answer that may fail to come, and a span. */
import { randomBytes } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { BelayError } from '../contract/errors.ts';
import type { RunResult } from '../contract/run.ts';
import { shellWord } from '../contract/safe-text.ts';
import type { SpanAttributes, Tracing } from '../tracing/tracing.ts';
import { isUnreachable } from './transport/grpc-errors.ts';

/** Leaves out letters that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'; // cspell:disable-line
const RANDOM_CHARACTERS = 8;
const MAX_STARTS = 5;

/**
 * Makes a key for a run or rollout that is started without one. Such keys are readable and sort by time, such as
 * `20261122-0106-k7f3q9xw`.
 *
 * @param nowMs the key shows this minute, in UTC
 */
export function newKey(nowMs = Date.now()): string {
  const [date, time] = new Date(nowMs).toISOString().split('T') as [string, string];
  const random = [...randomBytes(RANDOM_CHARACTERS)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return `${date.replaceAll('-', '')}-${time.slice(0, 5).replace(':', '')}-${random}`;
}

/**
 * Starts a workflow under the key, or under one that no other workflow has.
 *
 * @param start what to do if the key is taken: attach to its workflow, or throw WorkflowExecutionAlreadyStartedError
 */
export async function underKey<T>(
  key: string | undefined,
  start: (key: string, ifTaken: 'attach' | 'fail') => Promise<T>,
): Promise<T> {
  if (key !== undefined) return start(key, 'attach');
  for (let left = MAX_STARTS; ; left -= 1) {
    try {
      return await start(newKey(), 'fail');
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || left <= 1) throw error;
    }
  }
}

/**
 * A start that Temporal did not answer may have taken effect. A start under another key would then deploy a second time,
 * so the message asks for the same key.
 *
 * @throws BelayError `TemporalUnreachable`
 */
export async function startInDoubt<T>(
  workflowId: string,
  result: RunResult | null,
  start: () => Promise<T>,
): Promise<T> {
  return start().catch((error: unknown) => {
    if (!isUnreachable(error)) throw error;
    const remedy = `\`belay status ${shellWord(workflowId)}\` tells; until then, start it again only with the same key`;
    const message = `Temporal did not answer, so ${workflowId} may have been started: ${remedy}`;
    throw new BelayError('TemporalUnreachable', message, result);
  });
}

interface Started {
  startMs: number;
  workflowId: string;
  runId: string;
  workflowHasSpan?: boolean;
  attributes?: SpanAttributes;
}

export function traceStart(
  { tracing }: { tracing: Tracing | null },
  type: string,
  { startMs, workflowId, runId, workflowHasSpan = false, attributes = {} }: Started,
): void {
  tracing?.add({
    name: `start ${type}`,
    kind: 'client',
    trace: runId,
    ...(workflowHasSpan ? { within: runId } : {}),
    startMs,
    endMs: Date.now(),
    attributes: { workflowId, runId, ...attributes },
    failed: false,
  });
}
