import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { HISTORY_BUDGET } from '../../src/contract/history-budget.ts';
import type { GatePlan, Measurement, WaitingForGates } from '../../src/features/gates/shapes.ts';
import { gateProgress, gateReason, gateSentence } from '../../src/features/gates/text.ts';
import { measure, wordsIn, type GetPage, judgeSamples } from '../../src/features/gates/worker-measure.ts';
import { substitute } from '../../src/features/gates/worker-measure.ts';
import { LIMITS, MAX_TARGETS } from '../../src/request/limits.ts';
import {
  hasRoomToMeasure,
  NO_MEASUREMENT,
  noteMeasurement,
  slowIntervalMs,
  verdictOf,
} from '../../src/features/gates/rules.ts';

const NONE = { hosts: [], sites: [], servers: [], wave: ['canary'], seconds: 300 };

describe('a query', () => {
  test('gets the names of the wave, as alternatives of an expression', () => {
    const words = { ...NONE, hosts: ['shop.example', 'api.example'], servers: ['12'] };
    assert.equal(
      substitute('rate(x{host=~"$hosts",server=~"${servers}",wave="$wave"}[${seconds}s]) > $seconds', words),
      String.raw`rate(x{host=~"shop\\.example|api\\.example",server=~"12",wave="canary"}[300s]) > 300`,
    );
  });

  test('contains a name as text only, whatever it is made of', () => {
    const id = fc.string({ unit: fc.constantFrom(...'a1"\'`\\.*+?()[]{}|^$#\n -'), minLength: 1 });
    fc.assert(
      fc.property(id, fc.constantFrom('"', "'"), (name, quote) => {
        const query = substitute(`up{server=~${quote}$servers${quote}}`, { ...NONE, servers: [name] });
        const written = query.slice(`up{server=~${quote}`.length, -`${quote}}`.length);
        // What Prometheus takes between these quotation marks: only its own mark is escaped, and always.
        assert.match(written, quote === '"' ? /^([^"\\\n]|\\["\\n])*$/ : /^([^'\\\n]|\\['\\n])*$/);
        const pattern = written.replace(/\\(.)/g, (_all, it: string) => (it === 'n' ? '\n' : it));
        assert.ok(RE2JS.compile(pattern).matches(name), `${pattern} is to match ${name}`);
        assert.ok(!RE2JS.compile(pattern).matches(`${name}x`));
      }),
    );
  });

  for (const [query, problem] of [
    ['up{host=~"$host"}', /there is no \$host/],
    ['up{host=~"${hosts"}', /there is no/],
    ['up{host=~"a#b",server=~"$server"}', /there is no \$server/],
    ['$servers', /stands outside of a string/],
    ['up{host=~`$hosts`}', /cannot be escaped in backticks/],
  ] as const) {
    test(`is a mistake if it is ${query}`, () => {
      assert.throws(() => wordsIn(query), problem);
    });
  }

  test('may have words in comments, and the dollars of regular expressions', () => {
    assert.deepEqual(wordsIn('label_replace(up, "a", "$1", "b", "(.*)$") # $nothing'), []);
  });
});

describe('samples', () => {
  const of = (...values: string[]) => values.map((value, index) => ({ series: `{n="${index}"}`, value }));
  const LIMITS = { min: 0, max: 1 };

  for (const [what, values, state, value] of [
    ['within the limits are good', ['0.2', '0.9'], 'good', '0.9'],
    ['are bad if one is', ['0.5', '2', '0.7'], 'bad', '2'],
    ['below the least are bad', ['-0.1'], 'bad', '-0.1'],
    ['that are infinite are numbers', ['-Inf'], 'bad', '-Inf'],
    ['that are no number are no data', ['0.5', 'NaN'], 'none', 'NaN'],
    ['are bad rather than missing', ['NaN', '7'], 'bad', '7'],
    ['that are missing are no data', [], 'none', null],
  ] as const) {
    test(`${what}`, () => {
      const judged = judgeSamples(of(...values), LIMITS);
      assert.deepEqual([judged.state, judged.value], [state, value]);
    });
  }

  test('name the worst of several bad ones', () => {
    assert.equal(judgeSamples(of('2', '+Inf', '3'), LIMITS).text, '+Inf > 1 of {n="1"}');
  });
});

describe('a measurement', () => {
  const place = { address: 'http://prometheus.internal/base/', headers: { authorization: 'Bearer t' } };
  const answers =
    (status: number, body: unknown): GetPage =>
    () =>
      Promise.resolve({ status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const take = (getPage: GetPage) => measure({ kind: 'prometheus', query: 'q', max: 1 }, NONE, place, getPage);
  const ok = (data: unknown) => answers(200, { status: 'success', data });

  test('asks the path of the address, with its token, and follows no redirect', async () => {
    const asked: Parameters<GetPage>[0][] = [];
    await take((request) => {
      asked.push(request);
      return ok({ resultType: 'scalar', result: [1, '1'] })(request);
    });
    const [{ url, headers, follow, timeoutMs, maxBytes }] = asked as [Parameters<GetPage>[0]];
    assert.equal(url.href, 'http://prometheus.internal/base/api/v1/query?query=q');
    assert.deepEqual([headers, follow, timeoutMs, maxBytes], [place.headers, false, 10_000, 1024 * 1024]);
  });

  for (const [word, label] of [
    ['hosts', 'host'],
    ['sites', 'site'],
    ['servers', 'server'],
  ] as const) {
    test(`is no data, and asks nothing, if $${word} stands for nothing in the query or in atLeast`, async () => {
      const asked: unknown[] = [];
      const getPage: GetPage = (request) => {
        asked.push(request);
        return ok({ resultType: 'scalar', result: [1, '0'] })(request);
      };
      const named = `sum(errors{${label}=~"$${word}"}) or vector(0)`;
      for (const rule of [{ query: named }, { query: 'q', atLeast: { query: named, min: 0 } }]) {
        const measured = await measure({ kind: 'prometheus', max: 1, ...rule }, NONE, place, getPage);
        assert.equal(measured.state, 'none');
        assert.match(measured.text, new RegExp(`nothing that \\$${word} could stand for`));
      }
      assert.deepEqual(asked, []);
    });
  }

  for (const [what, getPage, state, text] of [
    ['a scalar', ok({ resultType: 'scalar', result: [1, '0.5'] }), 'good', /^0\.5 \(max 1\)$/],
    ['no series', ok({ resultType: 'vector', result: [] }), 'none', /no series/],
    ['a matrix', ok({ resultType: 'matrix', result: [] }), 'refused', /gives a matrix/],
    ['histograms', ok({ resultType: 'vector', result: [{ metric: {}, histogram: [] }] }), 'refused', /histograms/],
    ['a refusal', answers(400, { status: 'error', error: 'parse error' }), 'refused', /400\): parse error/],
    ['a refusal of 422', answers(422, ''), 'refused', /422/],
    ['401', answers(401, ''), 'error', /status 401/],
    ['a redirect', answers(302, ''), 'error', /status 302/],
    ['a page', answers(200, '<html>'), 'error', /not JSON/],
    ['other JSON', answers(200, { ok: true }), 'error', /not one of Prometheus/],
  ] as const) {
    test(`of ${what} is ${state}`, async () => {
      const measured = await take(getPage);
      assert.equal(measured.state, state);
      assert.match(measured.text, text);
    });
  }
});

describe('a gate', () => {
  const PACE = { tries: 6, inARow: 2, failures: 1 };
  const after = (states: string) =>
    [...states].reduce((state, letter) => noteMeasurement(state, MEASURED[letter]!), NO_MEASUREMENT);
  const of = (state: Measurement['state']): Measurement => ({ state, value: null, text: state });
  const MEASURED: Record<string, Measurement> = {
    g: of('good'),
    b: of('bad'),
    n: of('none'),
    e: of('error'),
    r: of('refused'),
  };

  for (const [states, verdict] of [
    ['g', null],
    ['gg', 'passed'],
    ['gneg', 'passed'],
    ['gbg', null],
    ['gbgg', 'passed'],
    ['gbb', 'failed'],
    ['nnnnn', null],
    ['nnnnnn', 'inconclusive'],
    ['eeeeee', 'inconclusive'],
    ['rr', null],
    ['rrr', 'inconclusive'],
    ['gngngb', 'passed'],
  ] as const) {
    test(`is ${verdict ?? 'not decided'} after ${states}`, () => {
      const decided = [...states].map((_letter, index) => verdictOf(after(states.slice(0, index + 1)), PACE));
      assert.equal(decided.find((it) => it !== null) ?? null, verdict);
    });
  }

  test('never passes without enough good measurements, and never fails without too many bad ones', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'gbner'), { maxLength: 12 }), (letters) => {
        const verdict = verdictOf(after(letters.join('')), PACE);
        const count = (letter: string) => letters.filter((it) => it === letter).length;
        if (verdict === 'passed') assert.ok(count('g') >= PACE.inARow);
        assert.equal(verdict === 'failed', count('b') > PACE.failures);
      }),
    );
  });

  test('is measured ten times more seldom while it is inconclusive, but not more often than every five minutes', () => {
    const DAY_MS = 86_400_000;
    const every = (intervalMs: number, patienceMs: number) => slowIntervalMs({ intervalMs }, patienceMs, 1);
    assert.deepEqual([every(1_000, DAY_MS), every(60_000, DAY_MS)], [300_000, 600_000]);
    assert.ok((7 * DAY_MS) / every(1_000, 7 * DAY_MS) <= 300);
  });

  test('is measured no more once the rest of the rollout needs the room that is left in its history', () => {
    const { maxEvents, gatesUntilBytes, eventsPerServer, maxThawLooks, eventsPerThawLook } = HISTORY_BUDGET;
    const eventsPerMeasurement = 11;
    const worstWaveEvents = (5 * LIMITS.gateTries[1] + 300) * eventsPerMeasurement;
    const ofServersEvents = MAX_TARGETS * eventsPerServer;
    const history = (historyLength: number, historySize = 0) => ({ historyLength, historySize });
    // One wave whose five gates use up all they may fits in, also after a thousand servers.
    assert.ok(hasRoomToMeasure(history(worstWaveEvents - eventsPerMeasurement), 900));
    assert.ok(hasRoomToMeasure(history(ofServersEvents + 13_000), 0));
    const restEvents = ofServersEvents + maxThawLooks * eventsPerThawLook;
    assert.ok(!hasRoomToMeasure(history(maxEvents - restEvents), MAX_TARGETS));
    assert.ok(!hasRoomToMeasure(history(1_000, gatesUntilBytes), 0));
  });
});

describe('the words for a gate', () => {
  const measured = (state: 'good' | 'error', value: string | null = null) => ({ state, value, text: 'no answer' });
  const plan = { name: 'errors', tries: 8, inARow: 3 } as GatePlan;
  const waiting = (tries: number): WaitingForGates => ({
    ...{ kind: 'gate', wave: 'canary', bakesUntil: null, inconclusive: ['errors'], since: '' },
    gates: [gateProgress(plan, { tries, goodInARow: 0, bad: 0, last: [] }, 'noon')],
  });

  test('count what was measured several times in a row', () => {
    const last = [measured('good', '0.1'), measured('error'), measured('error'), measured('error')];
    const state = { tries: 4, goodInARow: 1, bad: 0, refused: 0, last };
    assert.match(
      gateReason('canary', { plan, state, verdict: 'inconclusive' }, 'is inconclusive'),
      /; last 0\.1, error \(3 times\); 1 good in a row of 3, 0 bad, 4 of 8 tries$/,
    );
  });

  test('name no more tries than were planned as a part of them', () => {
    const state = { tries: 11, goodInARow: 0, bad: 0, refused: 0, last: [] };
    assert.match(gateReason('canary', { plan, state, verdict: 'passed' }, 'passed'), /, 11 tries, 8 were planned$/);
    const sentence = (tries: number) => gateSentence(waiting(tries), String);
    assert.match(sentence(8), /, try 8 of 8, next at noon/);
    assert.match(sentence(9), /, try 9 \(8 were planned\), next at noon/);
  });
});
