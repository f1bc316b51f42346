/** Draws what stands in the way of deployments and what follows them: freezes, and sites with a check. */
import fc from 'fast-check';
import type { OverrideRule } from '../../src/features/freezes/shapes.ts';
import type { RunInput } from '../../src/contract/run.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import { targetsOf } from '../../src/contract/target.ts';
import { between, chance, TARGETS } from './chance.ts';
import type { Mix } from './mix.ts';
import { sameForSameKey, type RunDraw } from './run-draws.ts';
import type { Act, Scenario } from './scenario.ts';

export interface FreezeDraw {
  /** A site, app or server. */
  target: string;
  forMs: number;
  /** Holds backups back, too. */
  backups: boolean;
  override: OverrideRule;
  /** Where the play can: in the workers' configuration from the start. */
  inFile: boolean;
}

/** The check of each site that has one. Tests of the file are elsewhere. */
export const CHECK = {
  name: 'answers',
  ...{ json: { status: 'ok' }, commit: { json: 'commit' } },
  ...{ intervalMs: 1_000, tries: 6, inARow: 3 },
};

const CHECKED = ['a1', 'a2'];
const [BEFORE, OURS, THIRD] = ['aaaaaaa0000', '3f2c1ab0d9e8', '9d9d9d9d9d9d'];

export function withGates(mix: Mix, base: Scenario): fc.Arbitrary<Scenario> {
  return fc
    .tuple(chance(mix.frozen, frozen(mix, base)), chance(mix.checked, checked(base)))
    .map((gates) => gates.reduce<Scenario>((scenario, gate) => (gate === null ? scenario : gate(scenario)), base));
}

type Gate = (scenario: Scenario) => Scenario;

const each = <T>({ runs }: Scenario, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { minLength: runs.length, maxLength: runs.length });

/** @param more what each run gets */
function withRuns(scenario: Scenario, more: readonly { input: Partial<RunInput>; overrides?: boolean }[]): Scenario {
  const runs = scenario.runs.map((run, index): RunDraw => {
    const { input, ...own } = more[index]!;
    return { ...run, ...own, input: { ...run.input, ...input } };
  });
  return { ...scenario, runs: sameForSameKey(runs) };
}

function frozen(mix: Mix, base: Scenario): fc.Arbitrary<Gate> {
  const freeze = fc.record({
    target: fc.constantFrom('a1', 'a1', ...TARGETS, 's1', 's1'),
    forMs: fc.oneof(between(3_000, 12_000), between(12_000, 60_000)),
    backups: fc.boolean(),
    override: fc.constantFrom<OverrideRule[]>('reason', 'reason', 'reason', 'never'),
    inFile: fc.boolean(),
  });
  const drawn = fc.tuple(freeze, fc.oneof(fc.constant(0), between(0, 4_000)), chance(40, between(500, 8_000)));
  const run = fc.record({
    waits: chance(mix.thawWaits, fc.constantFrom(5_000, 20_000, 120_000)),
    overrides: chance(25, fc.constant(true)),
  });
  return fc
    .tuple(fc.array(drawn, { minLength: 1, maxLength: 2 }), each(base, run))
    .map(([freezes, runs]) => (scenario) => {
      const acts = freezes.flatMap(([it, atMs, thawMs]): Act[] => [
        { atMs, do: 'freeze', ...it },
        ...(thawMs === null ? [] : [{ atMs: atMs + thawMs, do: 'thaw' as const, target: it.target }]),
      ]);
      const more = runs.map(({ waits, overrides }) => ({
        input: waits === null ? {} : { ifFrozen: 'wait' as const, freezeWaitMs: waits },
        ...(overrides === null ? {} : { overrides }),
      }));
      const all = [...acts, ...scenario.acts].sort((a, b) => a.atMs - b.atMs);
      return withRuns({ ...scenario, acts: all }, more);
    });
}

const page = (answer: Fault['answer']) => fc.constant(answer);
const pageFault: fc.Arbitrary<Fault> = fc
  .record({
    answer: fc.oneof(
      page({ kind: 'status', code: 503 }),
      page({ kind: 'none' }),
      page({ kind: 'reset' }),
      page({ kind: 'body', code: 200, type: 'application/json', text: '{"status":"ok","commit":"v1.2-dirty"}' }),
    ),
    skip: fc.oneof(fc.constant(0), between(0, 6)),
    times: fc.oneof(between(1, 3), between(4, 12)),
    target: fc.constantFrom('a1', 'a1', 'a2'),
  })
  .map((fault) => ({ route: 'page', ...fault }));

function checked(base: Scenario): fc.Arbitrary<Gate> {
  const shown = fc.record({
    commit: fc.constantFrom(OURS, OURS, OURS, THIRD),
    pageLagMs: fc.oneof(fc.constant(0), fc.constant(0), between(500, 8_000)),
  });
  const run = fc.record({
    commit: fc.constantFrom(OURS, OURS, OURS.slice(0, 8), null),
    orNewer: chance(25, fc.constant(true)),
    noCheck: chance(10, fc.constant({ reason: 'the page is being moved', by: 'ana' })),
  });
  return fc
    .tuple(fc.array(shown, { minLength: 8, maxLength: 8 }), fc.array(pageFault, { maxLength: 2 }), each(base, run))
    .map(([commits, faults, runs]) => (scenario) => ({
      ...withRuns(
        scenario,
        runs.map(({ commit, orNewer, noCheck }, index) => {
          const { type, input } = scenario.runs[index]!;
          // Elsewhere, and without the checks, nothing would read the commit, and the run would be refused.
          const isRead = noCheck === null && targetsOf(input).every(({ id }) => CHECKED.includes(id));
          return { input: type === 'backupOnly' ? {} : expecting(isRead ? commit : null, orNewer, noCheck) };
        }),
      ),
      scripts: { ...scenario.scripts, ...shownBy(scenario, commits) },
      faults: [...scenario.faults, ...faults],
      checked: CHECKED,
    }));
}

const expecting = (
  commit: string | null,
  orNewer: true | null,
  noCheck: RunInput['noCheck'] | null,
): Partial<RunInput> => ({
  ...(commit === null ? {} : { commit, ...(orNewer === null ? {} : { orNewer }) }),
  ...(noCheck == null ? {} : { noCheck }),
});

function shownBy({ scripts, past }: Scenario, commits: readonly Pick<ScriptPart, 'commit' | 'pageLagMs'>[]) {
  const sites = Object.entries(scripts).filter(([name]) => /^a\d$/.test(name));
  return Object.fromEntries(
    sites.map(([name, parts], site) => [
      name,
      parts.map((part, index) => ({
        ...part,
        ...(index === 0 && past.includes(name) ? { commit: BEFORE } : commits[(site * 4 + index) % commits.length]),
      })),
    ]),
  );
}
