/** What a scenario can lose. */
import type { Act, Scenario } from '../../model/scenario.ts';

export interface Part {
  count(scenario: Scenario): number;
  /** Null if that would change nothing. */
  without(scenario: Scenario, index: number): Scenario | null;
}

const listed = (name: 'acts' | 'faults' | 'past'): Part => ({
  count: (scenario) => scenario[name].length,
  without: (scenario, index) => ({ ...scenario, [name]: (scenario[name] as unknown[]).toSpliced(index, 1) }),
});

/** Everything that happens to a run: it is never started. */
const run: Part = {
  count: ({ runs }) => runs.length,
  without: (scenario, index) =>
    isStarted(scenario, index)
      ? { ...scenario, acts: scenario.acts.filter((act) => !('run' in act) || act.run !== index) }
      : null,
};

/** The last script of a target that has several. */
const script: Part = {
  count: ({ scripts }) => Object.keys(scripts).length,
  without({ scripts, ...rest }, index) {
    const [name, list] = Object.entries(scripts)[index]!;
    return list.length <= 1 ? null : { ...rest, scripts: { ...scripts, [name]: list.slice(0, -1) } };
  },
};

/** The largest first. */
export const PARTS: readonly Part[] = [run, listed('acts'), listed('faults'), listed('past'), script];

export const isStarted = ({ acts }: Scenario, index: number): boolean =>
  acts.some((act) => act.do === 'start' && act.run === index);

/** The others move up. */
export function withoutIdleRuns(scenario: Scenario): Scenario {
  const used = scenario.runs.flatMap((_, index) => (isStarted(scenario, index) ? [index] : []));
  const acts = scenario.acts.flatMap((act): Act[] => {
    if (!('run' in act)) return [act];
    const index = used.indexOf(act.run);
    return index === -1 ? [] : [{ ...act, run: index }];
  });
  return { ...scenario, runs: used.map((index) => scenario.runs[index]!), acts };
}
