/** Draws what the answers of a service show beyond their status: ids, replicas that lag, and pages ahead of the status. */
import fc from 'fast-check';
import type { Answers } from '../../src/sandbox/state.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import { between, chance, listOf, TARGETS } from './chance.ts';
import type { Mix } from './mix.ts';
import type { Act, Scenario } from './scenario.ts';

/** How the answers about a target are. */
export type AnswersDraw = Answers & { target: string };

const ids = fc.record(
  {
    latest: fc.constantFrom<NonNullable<Answers['latest']>[]>(
      { id: 'own' },
      { id: 'own' },
      { id: 'own', uuid: 'constant' },
      { id: 'constant', uuid: 'own' },
      { id: 'constant' },
    ),
    trigger: fc.constantFrom<NonNullable<Answers['trigger']>[]>('own', 'own', 'job', 'previous'),
  },
  { requiredKeys: ['latest'] },
);

const replica = fc.record({ every: between(2, 4), lagMs: between(100, 3_000) });

const answersTo = (target: string): fc.Arbitrary<AnswersDraw | null> =>
  fc.tuple(chance(75, ids), chance(60, replica)).map(([named, lagging]) => {
    if (named === null && lagging === null) return null;
    return { target, ...named, ...(lagging === null ? {} : { replica: lagging }) };
  });

const push = fc.record({
  atMs: between(0, 6_000),
  do: fc.constant('push' as const),
  target: fc.constantFrom(...TARGETS),
});

/** Drawn last, so that a seed draws the same without them. */
export function withAnswers(mix: Mix, base: Scenario): fc.Arbitrary<Scenario> {
  const drawn = fc.tuple(
    fc.tuple(...TARGETS.map(answersTo)),
    listOf(30, push),
    fc.array(fc.constantFrom(0, 0, 300, 3_000), { minLength: 4, maxLength: 4 }),
  );
  return chance(mix.answers, drawn).map((more) => {
    if (more === null) return base;
    const [answers, pushes, leads] = more;
    const acts: Act[] = [...base.acts, ...pushes].sort((a, b) => a.atMs - b.atMs);
    return { ...base, acts, scripts: ahead(base, leads), answers: answers.filter((it) => it !== null) };
  });
}

/** The pages of sites with a check are ahead of the status. */
function ahead({ scripts, checked = [] }: Scenario, leads: readonly number[]): Record<string, ScriptPart[]> {
  const parts = (list: ScriptPart[]) =>
    list.map((part, index) => {
      const pageLeadMs = leads[index % leads.length]!;
      return pageLeadMs === 0 ? part : { ...part, pageLeadMs };
    });
  return Object.fromEntries(
    Object.entries(scripts).map(([name, list]) => [name, checked.includes(name) ? parts(list) : list]),
  );
}
