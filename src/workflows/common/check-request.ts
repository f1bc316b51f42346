/** Lets a worker check the input of a workflow and plan it, so that replays do not depend on today's limits and defaults. */
import type { WorkerInfo, WorkerQuestion } from '../../contract/activities.ts';
import type { RunError, RunPlan } from '../../contract/run.ts';
import { describeSomeWorker } from './activity-proxies.ts';

export type Checked = { error: RunError } | { plan: RunPlan; facts: WorkerInfo };

export async function letWorkerCheck(
  question: Required<Pick<WorkerQuestion, 'request'>> & WorkerQuestion,
): Promise<Checked> {
  const { checked, ...facts } = await describeSomeWorker(question);
  if (checked === undefined) return { error: { type: 'Internal', message: 'the worker did not check the input' } };
  return 'problem' in checked ? { error: { type: 'Usage', message: checked.problem } } : { plan: checked.plan, facts };
}
