/** Lets a worker check the input of a workflow and plan it, so that replays do not depend on today's limits and defaults. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import type { WorkerInfo, WorkerQuestion } from '../contract/activities.ts';
import type { Outcome } from '../contract/names.ts';
import type { RunError, RunPlan } from '../contract/run.ts';
import { plainText } from '../contract/safe-text.ts';
import { resultOrFailure } from './conclusion.ts';
import { describeWorker } from './activity-proxies.ts';
import { askOthers, type Needs } from './check-worker.ts';

export type Checked = { error: RunError } | { plan: RunPlan; facts: WorkerInfo };

/**
 * @param needsOf what a worker needs, of an input that was checked: one that lacks it is not asked to decide. Default:
 * nothing. The answer of one worker counts, whole
 */
export async function letWorkerCheck(
  question: Required<Pick<WorkerQuestion, 'request'>> & WorkerQuestion,
  needsOf?: () => Needs,
): Promise<Checked> {
  const first = await describeWorker(question).catch(refusalOf);
  if ('error' in first) return first;
  const isAsked = needsOf === undefined || first.checked === undefined || 'problem' in first.checked;
  const { checked, ...facts } = isAsked ? first : await askOthers(question, needsOf(), first);
  if (checked === undefined) return { error: { type: 'Internal', message: 'the worker did not check the input' } };
  return 'problem' in checked ? { error: { type: 'Usage', message: checked.problem } } : { plan: checked.plan, facts };
}

/** What no worker could check in some minutes ends here: it would hold its place for ever. */
function refusalOf(error: unknown): { error: RunError } {
  const why = whyUnchecked(error instanceof ActivityFailure ? error.cause : undefined);
  if (why === null) throw error;
  return { error: { type: 'Refused', message: `no worker could check the request: ${why}` } };
}

function whyUnchecked(cause: unknown): string | null {
  if (cause instanceof TimeoutFailure)
    return 'none that began to answered in time: see to the workers, then start again';
  if (!(cause instanceof ApplicationFailure)) return null;
  return `${plainText(cause.message, 400)}: correct it there, then start again`;
}

/** How what was not checked ends. What no worker could check has requested nothing. */
export function endUnchecked<R extends { outcome: Outcome | null; error: RunError | null; endedAt: string | null }>(
  result: R,
  error: RunError,
): R {
  if (error.type === 'Refused')
    Object.assign(result, { outcome: 'not_started', error, endedAt: new Date().toISOString() });
  return resultOrFailure(result, error);
}
