/** Follows a deployment that somebody else starts, a push for one. Triggers nothing, so it takes no lock. */
import type { RunInput, RunResult } from '../../contract/run.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import { refusalOf } from '../operation/take-baseline.ts';
import { ended, type End } from '../common/conclusion.ts';
import { startBeat } from '../rules/poll-schedule.ts';
import { look, NOTHING_SEEN, type Sighting } from '../rules/verdict.ts';
import { serviceOf } from './backup-step.ts';
import type { Run } from './run-state.ts';
import { execute } from './execute-run.ts';
import { followDeployment, type Followed } from '../operation/await-verdict.ts';
import { wait } from '../polling/poll-until.ts';
import { createWatcher } from '../polling/poller.ts';

export async function watchDeployment(input: RunInput): Promise<RunResult> {
  return execute('watchDeployment', input, async (run) => [await watch(run)]);
}

async function watch(run: Run): Promise<End> {
  const result = run.result.deployments[0];
  if (result === undefined) throw new Error('the input was not checked');
  const { intervalMs, tries, settleMs, minEvidence } = run.plan.deploy;
  const read = deploymentReader({ service: serviceOf(run), siteId: result.siteId });
  const watcher = createWatcher(result, run);
  const followed: Followed = { watcher, result, read, intervalMs, tries, notFoundAnswers: true };
  run.enter('deploy');
  result.startedAt = new Date().toISOString();
  const first = await firstSighting(followed);
  const end = 'end' in first ? first.end : await follow(first.sighting);
  result.outcome = end.outcome;
  result.error = end.error;
  result.endedAt = new Date().toISOString();
  return end;

  async function follow(sighting: Sighting | null): Promise<End> {
    // One that is in progress already is the one to follow; its status before that is not known.
    const baseline = sighting?.state === 'in_progress' ? null : sighting;
    const question = { baseline, acceptedMs: null, triggerMarks: [], settleMs, minEvidence };
    const seen = sighting === null ? NOTHING_SEEN : look(question, NOTHING_SEEN, sighting, true);
    return followDeployment(followed, question, { seen, sighting: null });
  }
}

/** What there is when the watch begins; null where there was no deployment yet. */
async function firstSighting(followed: Followed): Promise<{ sighting: Sighting | null } | { end: End }> {
  const { watcher, read, intervalMs, tries, result } = followed;
  const notWatched = (reason: string) => ({ end: ended('not_started', 'Refused', `site ${result.siteId}: ${reason}`) });
  const end = await wait<{ sighting: Sighting | null } | { end: End }>(
    watcher,
    { what: 'deployment', read, beat: startBeat(Date.now(), intervalMs, [0]), tries },
    (answer) => {
      if (answer.ok) return { sighting: answer };
      if (answer.httpStatus === 404) return { sighting: null };
      const refusal = refusalOf(answer);
      return refusal === null ? undefined : notWatched(refusal);
    },
  );
  if (end.end === 'judged') return end.value;
  if (end.end === 'given_up') return notWatched(end.reason.message);
  return { end: ended('not_started', 'Cancelled', `cancelled before site ${result.siteId} was read`) };
}
