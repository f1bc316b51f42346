import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Scenario } from '../../model/scenario.ts';
import { keptText, readKept } from '../shrink/kept.ts';
import { folded } from '../plays/fold.ts';
import { scenarioOf } from '../plays/play.ts';
import { shrink, type Case } from '../shrink/shrink.ts';
import { seededTape } from '../tape.ts';

const [FIRST, SECOND] = [3, 41];

test('shrinking leaves the choices, the acts and the faults that the failure needs', async () => {
  const start = caseOf(8);
  const [kept] = start.scenario.runs.keys();
  const fails = ({ choices, scenario }: Case) =>
    Promise.resolve((choices[FIRST] ?? 0) >= 5 && (choices[SECOND] ?? 0) > 0 && starts(scenario).includes(kept!));
  assert.equal(await fails(start), true);
  const { choices, scenario } = await shrink(start, fails, 1_000);
  const set = choices.flatMap((choice, place) => (choice === 0 ? [] : [place]));
  assert.deepEqual(set, [FIRST, SECOND]);
  assert.equal(choices[SECOND], 1);
  assert.ok(choices[FIRST]! < 10, `${choices[FIRST]}`);
  assert.deepEqual([scenario.runs.length, scenario.acts.length], [1, 1]);
  assert.deepEqual([scenario.faults, scenario.past], [[], []]);
  assert.ok(Object.values(scenario.scripts).every((list) => list.length === 1));
});

test('shrinking never plays more often than it may', async () => {
  let played = 0;
  const fails = () => {
    played += 1;
    return Promise.resolve(played % 2 === 0);
  };
  await shrink(caseOf(8), fails, 25);
  assert.equal(played, 25);
});

test('a story shows polls that repeat once, whatever their jitter', () => {
  const poll = (atMs: number) => [
    { atMs, who: 'service', what: 'GET → 200, deploying' },
    { atMs: atMs + 2, who: 'deploy-site:a1', what: `waits ${9_000 + atMs} ms` },
  ];
  const post = { atMs: 0, who: 'service', what: 'POST → 200' };
  const shown = folded([post, ...[1, 2, 3, 4].flatMap(poll), post, post]);
  const repeated = { atMs: 6, who: '…', what: 'repeated 3 more times, until now' };
  assert.deepEqual(shown, [post, ...poll(1), repeated, post, post]);
});

test('a kept tape is read as it was written', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-sim-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tape.json');
  const { scenario } = caseOf(8);
  writeFileSync(file, keptText('a finding', { scenario, choices: [0, 0, 7, 0, 1] }));
  assert.deepEqual(readKept(file), {
    scenario: JSON.parse(JSON.stringify(scenario)) as Scenario,
    choices: [0, 0, 7, 0, 1],
  });
});

function caseOf(seed: number): Case {
  const tape = seededTape(seed);
  for (let index = 0; index < 200; index += 1) tape.choose('a choice', 100);
  return { scenario: scenarioOf(seed), choices: tape.choices.with(FIRST, 40).with(SECOND, 90) };
}

const starts = ({ acts }: Scenario): number[] => acts.flatMap((act) => (act.do === 'start' ? [act.run] : []));
