/** Makes one measurement of a gate. Of Belay, it imports only the shapes of gates and the reader of sites. */
import { z } from 'zod';
import {
  compileCheck,
  hideAll,
  jsonOf,
  shownText,
  textAt,
  type Page,
  NoAnswer,
  Oversized,
  type Hide,
  type PageRequest,
} from '../../site-check/index.ts';
import type { GateLimits, GateRule, Measurement, PageRule, QueryRule } from './shapes.ts';

/** @throws SyntaxError for a rule that cannot be understood */
export async function measure(rule: GateRule, words: Words, place: GatePlace, getPage: GetPage): Promise<Measurement> {
  const hide = hideAll(secretsOf(place));
  const asking = { place, getPage, hide };
  const { state, value, text } = await (rule.kind === 'http'
    ? measurePage(rule, asking)
    : measureQuery(rule, words, asking));
  return { state, value: value === null ? null : hide.text(value), text: hide.text(text) };
}

/** What an answer may echo. */
function secretsOf({ address, headers, isSecret = false }: GatePlace): string[] {
  const { href, host, pathname, searchParams } = new URL(address);
  const parts = isSecret ? [href, host, ...pathname.split('/'), ...searchParams.values()] : [];
  return [...Object.values(headers), ...parts];
}

interface Asking {
  place: GatePlace;
  getPage: GetPage;
  /** Used for a text that is cut. All others are covered at the end. */
  hide: Hide;
}

/* Measures a page: by what is expected of it, and by a number in its JSON body. */

async function measurePage(rule: PageRule, { place, getPage, hide }: Asking): Promise<Measurement> {
  const answer = await askPage(new URL(place.address), place.headers, getPage);
  return 'state' in answer ? answer : judgePage(answer, rule, hide);
}

const failed = (text: string): Measurement => ({ state: 'error', value: null, text });
const refused = (text: string): Measurement => ({ state: 'refused', value: null, text });
const noData = (text: string, value: string | null = null): Measurement => ({
  state: 'none',
  value,
  text: `no data: ${text}`,
});

function judgePage(page: Page, rule: PageRule, hide: Hide): Measurement {
  const { unmet } = compileCheck(rule)(page, hide);
  const [wrongStatus] = unmet.filter(({ of }) => of === 'status');
  if (wrongStatus !== undefined)
    return { ...failed(wrongStatus.text), state: saysNothing(page.status) ? 'error' : 'bad' };
  const json = jsonOf(page.body);
  if (json === undefined && asksForJson(rule)) return failed('the answer is not JSON');
  const tooFew = tooFewIn(json, rule, hide);
  if (tooFew !== null) return tooFew;
  const found = unmet.map(({ of, text, isMissing }): Measurement =>
    of === 'json' && isMissing ? noData(text) : { state: 'bad', value: null, text },
  );
  const measured = rule.value === undefined ? null : measureValue(textAt(json, rule.value), rule.value, rule, hide);
  const all = [...found, ...(measured === null ? [] : [measured])];
  return (
    all.find(({ state }) => state === 'bad') ?? all.find(({ state }) => state === 'none') ?? measured ?? AS_EXPECTED
  );
}

const AS_EXPECTED: Measurement = { state: 'good', value: null, text: 'as expected' };

/** A redirect, a refusal or a server error says nothing about the wave. */
const saysNothing = (status: number): boolean =>
  status >= 500 || (status >= 300 && status < 400) || [401, 403, 407, 408, 429].includes(status);

const asksForJson = ({ json, value, atLeast }: PageRule): boolean =>
  json !== undefined || value !== undefined || atLeast !== undefined;

function tooFewIn(json: unknown, { atLeast }: PageRule, hide: Hide): Measurement | null {
  if (atLeast === undefined) return null;
  const text = textAt(json, atLeast.value);
  if (text !== null && numberOf(text) >= atLeast.min) return null;
  const found = text === null ? 'missing' : shownText(text, hide);
  return noData(`${atLeast.value} is ${found}, and has to be ${atLeast.min}`);
}

function measureValue(text: string | null, path: string, limits: GateLimits, hide: Hide): Measurement {
  if (text === null) return noData(`${path} is missing`);
  const number = numberOf(text);
  if (Number.isNaN(number)) return noData(`${path} is "${shownText(text, hide)}", which is not a number`);
  // The page may write it with any number of digits.
  return judgeSamples([{ series: path, value: String(number) }], limits);
}

/**
 * A word that stands for nothing would match series without its label, so that numbers of something else pass the gate.
 * This happens if belay.yaml has lost the addresses, or if only apps were deployed.
 *
 * @throws SyntaxError for a query with an unknown word
 */
async function measureQuery(rule: QueryRule, words: Words, asking: Asking): Promise<Measurement> {
  const empty = [rule.query, rule.atLeast?.query ?? '']
    .flatMap(wordsIn)
    .find((word) => word !== 'seconds' && words[word].length === 0);
  if (empty !== undefined) return noData(`the wave has nothing that $${empty} could stand for`);
  const ask = (query: string) => askPrometheus(substitute(query, words), asking);
  const [answer, amount] = await Promise.all([
    ask(rule.query),
    rule.atLeast === undefined ? null : ask(rule.atLeast.query),
  ]);
  if ('state' in answer) return answer;
  if (amount !== null && 'state' in amount) return amount;
  const tooFew = amount === null ? null : tooFewInQuery(amount, rule.atLeast!.min);
  return tooFew ?? judgeSamples(answer, rule);
}

function tooFewInQuery(samples: readonly Sample[], min: number): Measurement | null {
  const short = samples.find(({ value }) => !(numberOf(value) >= min));
  if (samples.length > 0 && short === undefined) return null;
  return noData(`atLeast is ${short?.value ?? 'empty'}, and has to be ${min}`);
}

const MAX_SERIES_TEXT = 120;

/**
 * The address includes the path before `/api/v1`, if there is one.
 *
 * @returns the samples, or why there are none
 */
async function askPrometheus(
  query: string,
  { place: { address, headers }, getPage, hide }: Asking,
): Promise<Sample[] | Measurement> {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/query`;
  url.searchParams.set('query', query);
  const answer = await askPage(url, headers, getPage);
  return 'state' in answer ? answer : samplesIn(answer, hide);
}

const point = z.tuple([z.unknown(), z.string()]);
const data = z.discriminatedUnion('resultType', [
  z.object({ resultType: z.literal('scalar'), result: point }),
  z.object({
    resultType: z.literal('vector'),
    result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: point.optional() })),
  }),
]);
const success = z.object({ status: z.literal('success'), data });
const otherKind = z.object({ status: z.literal('success'), data: z.object({ resultType: z.string() }) });
const failure = z.object({ status: z.literal('error'), error: z.string() });

function samplesIn({ status, body }: Page, hide: Hide): Sample[] | Measurement {
  const json = jsonOf(body);
  if (status === 400 || status === 422) {
    const reason = failure.safeParse(json).data?.error;
    return refused(`the query is refused (${status})${reason === undefined ? '' : `: ${reason}`}`);
  }
  if (status !== 200) return failed(`status ${status}`);
  const answer = success.safeParse(json);
  if (answer.success) return samplesOf(answer.data.data, hide);
  const other = otherKind.safeParse(json).data?.data.resultType;
  if (other !== undefined) return refused(`the query gives a ${other}, and a gate needs a scalar or a vector`);
  return failed(json === undefined ? 'the answer is not JSON' : 'the answer is not one of Prometheus');
}

function samplesOf(answer: z.infer<typeof data>, hide: Hide): Sample[] | Measurement {
  if (answer.resultType === 'scalar') return [{ series: '', value: answer.result[1] }];
  if (answer.result.some(({ value }) => value === undefined))
    return refused('the query gives native histograms, and a gate needs numbers');
  return answer.result.map(({ metric, value }) => ({ series: seriesText(metric, hide), value: value![1] }));
}

function seriesText(metric: Record<string, string>, hide: Hide): string {
  const { __name__: name = '', ...labels } = metric;
  const all = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return hide.text(all.length === 0 ? name : `${name}{${all.join(',')}}`).slice(0, MAX_SERIES_TEXT);
}

/** @throws NoAnswer, Oversized */
export type GetPage = (request: PageRequest) => Promise<Page>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** @returns the page, or why there is none */
async function askPage(url: URL, headers: Record<string, string>, getPage: GetPage): Promise<Page | Measurement> {
  try {
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, follow: false, isPrivateSite: true };
    return await getPage({ url, headers, ...limits });
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Oversized) return failed(hideHost(error.message, url));
    throw error;
  }
}

/** The host may be a secret, so messages must not contain it. */
const hideHost = (message: string, { hostname }: URL): string =>
  [hostname, hostname.replace(/^\[(.*)\]$/, '$1')].reduce(
    (text, it) => text.replaceAll(`the name ${it}`, 'its name').replaceAll(it, 'the host'),
    message,
  );

/* Judges numbers by limits: every series counts, and the worst one decides. Pure. */

interface Sample {
  /** Labels as Prometheus writes them, such as `{instance="a"}`. Empty for a scalar. */
  series: string;
  value: string;
}

const WORST_FIRST: readonly Measurement['state'][] = ['bad', 'none', 'good'];

export function judgeSamples(samples: readonly Sample[], limits: GateLimits): Measurement {
  const rank = ({ state }: Measurement) => WORST_FIRST.indexOf(state);
  const [worst] = samples
    .map((sample) => ({ judged: judgeOne(sample, limits), excess: excessOf(numberOf(sample.value), limits) }))
    .sort((a, b) => rank(a.judged) - rank(b.judged) || compare(b.excess, a.excess));
  return worst?.judged ?? noData('no series');
}

function judgeOne({ series, value }: Sample, limits: GateLimits): Measurement {
  const number = numberOf(value);
  const of = series === '' ? '' : ` of ${series}`;
  if (Number.isNaN(number)) return noData(`NaN${of}`, value);
  const { min = -Infinity, max = Infinity } = limits;
  if (number < min) return { state: 'bad', value, text: `${value} < ${min}${of}` };
  if (number > max) return { state: 'bad', value, text: `${value} > ${max}${of}` };
  return { state: 'good', value, text: `${value} (${limitsText(limits)})${of}` };
}

/** Positive beyond a limit, negative within the limits. */
const excessOf = (value: number, { min = -Infinity, max = Infinity }: GateLimits): number =>
  Number.isNaN(value) ? 0 : Math.max(min - value, value - max);

/** Subtracting infinities would yield NaN. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const limitsText = ({ min, max }: GateLimits): string =>
  [...(min === undefined ? [] : [`min ${min}`]), ...(max === undefined ? [] : [`max ${max}`])].join(', ');

/** Prometheus writes `+Inf`, `-Inf` and `NaN`. */
function numberOf(text: string): number {
  const infinite = /^([+-]?)(Inf|Infinity)$/i.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  return text.trim() === '' ? NaN : Number(text);
}

export interface GatePlace {
  address: string;
  /** Whether the address itself is a secret. */
  isSecret?: boolean;
  headers: Record<string, string>;
}

/* Puts names into a query of PromQL, so that no name can become a part of the query. */

const WORDS = ['hosts', 'sites', 'servers', 'wave', 'seconds'] as const;
export type Word = (typeof WORDS)[number];

/** What the words stand for. */
export type Words = Record<Exclude<Word, 'seconds'>, readonly string[]> & { seconds: number };

interface Part {
  text: string;
  /** The quotation mark of the string in which it stands, or null. */
  quote: string | null;
}

/** A word with its braces, a quotation mark, a comment, or any other character. */
const OUTSIDE = /\$\{[^}]*\}|\$[A-Za-z_]\w*|["'`]|#[^\n]*|[^]/y;
/** A word with its braces, an escaped character, or any other character. */
const IN_STRING = /\$\{[^}]*\}|\$[A-Za-z_]\w*|\\[^]|[^]/y;
/** A string in backticks has no escapes. */
const IN_BACKTICKS = /\$\{[^}]*\}|\$[A-Za-z_]\w*|[^]/y;

/** Whether a text has one of the words, wherever it stands. */
export const namesWord = (text: string): boolean => WORDS.some((it) => new RegExp(`\\$\\{?${it}\\b`).test(text));

/** @returns the words of a query, without repetition. @throws SyntaxError for a word or place that is not allowed */
export function wordsIn(query: string): Word[] {
  const found = partsOf(query).flatMap((part) => wordIn(part) ?? []);
  return [...new Set(found)];
}

/** @throws SyntaxError for a word or place that is not allowed */
export function substitute(query: string, words: Words): string {
  return partsOf(query)
    .map((part) => {
      const word = wordIn(part);
      if (word === null) return part.text;
      if (word === 'seconds') return String(Math.max(1, Math.round(words.seconds)));
      return words[word].map((text) => escapeForString(escapeForExpression(text), part.quote)).join('|');
    })
    .join('');
}

function partsOf(query: string): Part[] {
  const parts: Part[] = [];
  let quote: string | null = null;
  for (let at = 0; at < query.length;) {
    const token: RegExp = quote === null ? OUTSIDE : quote === '`' ? IN_BACKTICKS : IN_STRING;
    token.lastIndex = at;
    const text: string = token.exec(query)![0];
    at += text.length;
    const isComment = quote === null && text.startsWith('#');
    if (!isComment) parts.push({ text, quote });
    if (quote === text) quote = null;
    else if (quote === null && /^["'`]$/.test(text)) quote = text;
  }
  return parts;
}

function wordIn({ text, quote }: Part): Word | null {
  const [, name] = /^\$\{?([^}]*?)\}?$/.exec(text) ?? [];
  // `$1` and a `$` alone belong to regular expressions.
  if (name === undefined || name === '') return null;
  const word = WORDS.find((it) => it === name);
  if (word === undefined) throw new SyntaxError(`there is no $${name}: use ${WORDS.map((it) => `$${it}`).join(', ')}`);
  if (quote === '`') throw new SyntaxError(`$${word} cannot be escaped in backticks: use double quotes`);
  if (quote === null && word !== 'seconds')
    throw new SyntaxError(`$${word} stands outside of a string: write label=~"$${word}"`);
  return word;
}

/** RE2's, as in `=~`. */
const escapeForExpression = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`);

/** Prometheus refuses `\'` in double quotes, and `\"` in single ones. */
const escapeForString = (text: string, quote: string | null): string =>
  text.replace(/[\\"']/g, (it) => (it === '\\' || it === quote ? `\\${it}` : it)).replaceAll('\n', String.raw`\n`);
