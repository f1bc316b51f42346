/** Lets a worker check the input of a workflow and plan it, so that replays do not depend on today's limits and defaults. */
import type { WorkerInfo, WorkerQuestion } from '../../contract/activities.ts';
import type { RunPlan } from '../../contract/run.ts';
import { describeSomeWorker } from './activity-proxies.ts';

export type Checked = { problem: string } | { plan: RunPlan; facts: WorkerInfo };

export async function checkRequest(
  question: Required<Pick<WorkerQuestion, 'request'>> & WorkerQuestion,
): Promise<Checked> {
  const { checked, ...facts } = await describeSomeWorker(question);
  if (checked === undefined) throw new Error('the worker did not check the input');
  return 'problem' in checked ? checked : { plan: checked.plan, facts };
}
