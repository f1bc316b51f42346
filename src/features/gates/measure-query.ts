/** Measures by a query of Prometheus. */
import type { GetPage } from './ask-page.ts';
import { judgeSamples, numberOf } from './judge.ts';
import type { Limits, Measured, Place } from './measured.ts';
import { askPrometheus, type Answer } from './prometheus.ts';
import { substitute, type Words } from './worker-words.ts';

export interface QueryRule extends Limits {
  query: string;
  /** Without that much of this, there is no data. */
  atLeast?: { query: string; min: number } | undefined;
}

/** @throws SyntaxError for a query with a word that there is not */
export async function measureQuery(rule: QueryRule, words: Words, place: Place, getPage: GetPage): Promise<Measured> {
  const ask = (query: string) => askPrometheus({ ...place, query: substitute(query, words) }, getPage);
  const [answer, amount] = await Promise.all([
    ask(rule.query),
    rule.atLeast === undefined ? null : ask(rule.atLeast.query),
  ]);
  const problem = problemOf(answer) ?? (amount === null ? null : problemOf(amount));
  if (problem !== null) return problem;
  const tooFew = amount === null ? null : tooFewIn(amount, rule.atLeast!.min);
  return tooFew ?? judgeSamples('samples' in answer ? answer.samples : [], rule);
}

function problemOf(answer: Answer): Measured | null {
  if ('samples' in answer) return null;
  return { state: answer.isRefused ? 'refused' : 'error', value: null, text: answer.error };
}

function tooFewIn(answer: Answer, min: number): Measured | null {
  const values = 'samples' in answer ? answer.samples.map(({ value }) => value) : [];
  const short = values.find((value) => !(numberOf(value) >= min));
  if (values.length > 0 && short === undefined) return null;
  return { state: 'none', value: null, text: `no data: atLeast is ${short ?? 'empty'}, and has to be ${min}` };
}
