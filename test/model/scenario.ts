/** The draw: a few servers and sites, the scripts of their operations, the faults, and the actions of each actor. */
import fc from 'fast-check';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import { withAnswers, type AnswersDraw } from './answer-draws.ts';
import { between, chance, listOf, SERVERS, TARGETS } from './chance.ts';
import { readFault, triggerFault } from './fault-draws.ts';
import { withGates, type FreezeDraw } from './gate-draws.ts';
import type { Mix } from './mix.ts';
import { run, sameForSameKey, type RunDraw } from './run-draws.ts';

/** Names are `a1`, `a2` for sites, `b1` for an app and `s1`, `s2` for servers. Each play makes them unique. */
export interface Scenario {
  /** The start of the scenario within its batch. */
  startMs: number;
  /** The scripts of the operations on a target or server, in order, for every actor. */
  scripts: Record<string, ScriptPart[]>;
  /** Targets with an earlier deployment, which uses the first of their scripts. */
  past: string[];
  /** The target of a fault of a backup's reads is its server. */
  faults: Fault[];
  /** Sites that have a check in the workers' configuration. */
  checked?: string[];
  /** Targets whose answers show more than a status. */
  answers?: AnswersDraw[] | undefined;
  runs: RunDraw[];
  acts: Act[];
}

export type Act = { atMs: number } & (
  | { do: 'start' | 'cancel'; run: number }
  | { do: 'push' | 'delete'; target: string }
  | { do: 'back up'; server: string }
  | ({ do: 'freeze' } & FreezeDraw)
  | { do: 'thaw'; target: string }
);

const WORDS = [
  ['queued', 'deploying'],
  ['DEPLOYING'],
  ['Waiting for approval'],
  ['übersetzt…', 'kopiert'],
  ['finished?'],
];

function script(mix: Mix): fc.Arbitrary<ScriptPart> {
  const ends = fc.oneof(
    { weight: 60, arbitrary: fc.constantFrom('completed', 'completed', 'Completed', ' COMPLETED ') },
    { weight: 30, arbitrary: fc.constantFrom('failed', 'FAILED') },
    { weight: mix.never, arbitrary: fc.constantFrom('never', 'rolled back') },
  );
  const durationMs = fc.oneof(fc.constant(0), between(20, 400), between(400, 3_000), between(400, 3_000));
  const lagMs = fc.oneof(
    { weight: 30, arbitrary: between(100, 3_000) },
    { weight: 1, arbitrary: between(11_000, 13_000) },
  );
  return fc
    .tuple(durationMs, fc.constantFrom(...WORDS), ends, chance(mix.lag, lagMs))
    .map(([ms, words, end, lag]) => ({ durationMs: ms, words, ends: end, lagMs: lag ?? 0 }));
}

const past = fc.record({ durationMs: fc.constant(0), ends: fc.constantFrom('completed', 'completed', 'Failed') });

function acts(mix: Mix, runs: number): fc.Arbitrary<Act[]> {
  const starts = Array.from({ length: runs }, (_, index) =>
    fc
      .tuple(fc.oneof(fc.constant(0), between(0, 600), between(0, 6_000)), chance(mix.cancel, between(0, 8_000)))
      .map(([atMs, laterMs]): Act[] => [
        { atMs, do: 'start', run: index },
        ...(laterMs === null ? [] : [{ atMs: atMs + laterMs, do: 'cancel' as const, run: index }]),
      ]),
  );
  const push = fc.record({
    atMs: between(0, 5_000),
    do: fc.constant('push' as const),
    target: fc.constantFrom(...TARGETS),
  });
  const early = fc.record({ atMs: fc.constant(0), do: fc.constant('push' as const), target: fc.constant('a1') });
  const other = fc.record({
    atMs: between(0, 5_000),
    do: fc.constant('back up' as const),
    server: fc.constantFrom(...SERVERS),
  });
  const remove = fc.record({
    atMs: between(0, 9_000),
    do: fc.constant('delete' as const),
    target: fc.constantFrom(...TARGETS),
  });
  return fc
    .tuple(
      fc.tuple(...starts),
      listOf(mix.push, push),
      listOf(mix.earlyPush, early),
      listOf(15, other),
      listOf(3, remove),
    )
    .map(([own, ...others]) => [...others.flat(), ...own.flat()].sort((a, b) => a.atMs - b.atMs));
}

/** Gates and answers are drawn last, so that a seed draws the same without them. */
export const scenario = (mix: Mix): fc.Arbitrary<Scenario> =>
  open(mix)
    .chain((base) => withGates(mix, base))
    .chain((base) => withAnswers(mix, base));

function open(mix: Mix): fc.Arbitrary<Scenario> {
  const scripts = (name: string) =>
    fc.array(script(mix), { minLength: 1, maxLength: 4 }).map((list): [string, ScriptPart[]] => [name, list]);
  return fc
    .tuple(
      between(0, mix.spreadMs),
      fc.tuple(...[...SERVERS, ...TARGETS].map(scripts)),
      fc.subarray(TARGETS),
      fc.array(past, { minLength: 3, maxLength: 3 }),
      fc.array(chance(mix.triggerFault, triggerFault), { minLength: 2, maxLength: 2 }),
      fc.array(chance(mix.readFault, readFault), { minLength: 3, maxLength: 3 }),
      fc.array(run(mix), { minLength: mix.minRuns, maxLength: 4 }).map(sameForSameKey),
    )
    .chain(([startMs, drawn, before, pasts, triggers, reads, runs]) =>
      acts(mix, runs.length).map((list) => {
        const own = drawn.map(([name, parts]): [string, ScriptPart[]] => {
          const first = pasts[before.indexOf(name)];
          return [name, first === undefined ? parts : [first, ...parts]];
        });
        const faults = [...triggers, ...reads].filter((fault) => fault !== null);
        return { startMs, scripts: Object.fromEntries(own), past: before, faults, runs, acts: list };
      }),
    );
}
