/**
 * Checks whether the runs of the last weeks could be reported to repositories, which know a commit only by its full
 * name.
 */
import { withBelay } from '../../cli/open-belay.ts';
import { readConfiguration } from '../../config/load.ts';
import { TIMING } from '../../contract/timing.ts';
import type { RunResult } from '../../contract/run.ts';
import { commitText, FULL_COMMIT } from '../../contract/commit.ts';
import { plainText } from '../../contract/safe-text.ts';
import { adviceOn, type Check, type Finding } from '../../cli/doctor-check.ts';

const MOST_READ = 50;

export const reportsCheck = (): Check => ({
  name: 'reports',
  run: async (): Promise<Finding> => {
    const { notify } = await readConfiguration();
    if (Object.keys(notify?.reports ?? {}).length === 0)
      return { state: 'skipped', message: 'belay.yaml reports to no repository' };
    return adviceOn(lookBack(), reportsFinding);
  },
});

/** @param runs the newest first */
export function reportsFinding(runs: readonly Pick<RunResult, 'workflowId' | 'commit'>[]): Finding {
  const named = runs.filter(({ commit }) => commit !== null);
  if (named.length === 0) return { state: 'skipped', message: 'no run of the last 30 days names a commit' };
  const short = named.filter(({ commit }) => !FULL_COMMIT.test(commit ?? ''));
  const [example] = short;
  if (example === undefined) return { state: 'ok', message: 'the commits of the last runs are full ones' };
  const such = `${plainText(example.workflowId ?? '')} with ${commitText(example.commit ?? '')}`;
  return {
    state: 'warning',
    message: `${short.length} of the last ${named.length} runs with a commit were not reported, such as ${such}`,
    remedy: 'give --commit all 40 hex digits, as `git rev-parse HEAD` prints them',
  };
}

function lookBack(): Promise<RunResult[]> {
  const since = new Date(Date.now() - TIMING.advice.lookBackMs).toISOString();
  return withBelay((belay) => belay.list({ since, limit: MOST_READ }));
}
