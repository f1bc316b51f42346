/** Scenarios are drawn for real time, with budgets of seconds. Here they may be as long as they are for users. */
import type { RunInput } from '../../../src/contract/run.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import type { Scenario } from '../../model/scenario.ts';

export const SCALES = [1, 10, 40];

export function lengthened(drawn: Scenario, scale: number): Scenario {
  const part = (it: ScriptPart): ScriptPart => ({
    ...it,
    ...(it.durationMs === undefined ? {} : { durationMs: it.durationMs * scale }),
    ...(it.lagMs === undefined ? {} : { lagMs: it.lagMs * scale }),
    ...(it.pageLagMs === undefined ? {} : { pageLagMs: it.pageLagMs * scale }),
    ...(it.pageLeadMs === undefined ? {} : { pageLeadMs: it.pageLeadMs * scale }),
  });
  const input = ({ backup, deploy, busyTimeoutMs, freezeWaitMs, ...rest }: RunInput): RunInput => ({
    ...rest,
    ...(backup === undefined ? {} : { backup: { ...backup, intervalMs: (backup.intervalMs ?? 400) * scale } }),
    ...(deploy === undefined
      ? {}
      : {
          deploy: {
            ...deploy,
            intervalMs: (deploy.intervalMs ?? 400) * scale,
            baselineWaitMs: (deploy.baselineWaitMs ?? 6_000) * scale,
          },
        }),
    ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs: busyTimeoutMs * scale }),
    ...(freezeWaitMs === undefined ? {} : { freezeWaitMs: freezeWaitMs * scale }),
  });
  return {
    ...drawn,
    answers: drawn.answers?.map(({ replica, ...it }) => ({
      ...it,
      ...(replica === undefined ? {} : { replica: { ...replica, lagMs: replica.lagMs * scale } }),
    })),
    scripts: Object.fromEntries(Object.entries(drawn.scripts).map(([name, list]) => [name, list.map(part)])),
    runs: drawn.runs.map((run) => ({ ...run, input: input(run.input) })),
    acts: drawn.acts.map((act) => ({
      ...act,
      atMs: act.atMs * scale,
      ...(act.do === 'freeze' ? { forMs: act.forMs * scale } : {}),
    })),
  };
}
