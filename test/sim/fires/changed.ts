/** Changes plays, so that a check has something to find. */
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import type { RunInput } from '../../../src/contract/run.ts';
import type { PlayedRun } from '../../model/record.ts';
import type { Run } from '../temporal/types.ts';

export const asPlayed = ({ workflowId, runId, startedMs, closedMs }: Run, input: RunInput): PlayedRun => {
  const ofRun = { workflowId, runId, startedMs, closedMs, cancelledMs: null, waitsEnded: [], result: null };
  return { ...ofRun, type: 'deployOnly', input };
};

/** @returns whether it holds this text, which is another one now */
export function change(payload: Payload | null, from: RegExp, to: string): boolean {
  const text = payload === null ? '' : JSON.stringify(payloads.fromPayload(payload));
  if (!from.test(text)) return false;
  Object.assign(payload!, payloads.toPayload(JSON.parse(text.replace(from, to))));
  return true;
}
