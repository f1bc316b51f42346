/** Measures by a page: by what is expected of it, and by a number in its JSON body. */
import { compileCheck, jsonOf, shownText, textAt, type CheckRules, type Page } from '../../site-check/index.ts';
import { askPage, type GetPage } from './ask-page.ts';
import { judgeSamples, numberOf } from './judge.ts';
import type { Limits, Measured, Place } from './measured.ts';

export interface PageRule extends Limits, Omit<CheckRules, 'commit'> {
  /** Path in the JSON body of the number that the limits are for. */
  value?: string | undefined;
  /** Without that much at this path, there is no data. */
  atLeast?: { value: string; min: number } | undefined;
}

export async function measurePage(rule: PageRule, { address, headers }: Place, getPage: GetPage): Promise<Measured> {
  const answer = await askPage(new URL(address), headers, getPage);
  return 'error' in answer ? failed(answer.error) : judgePage(answer, rule);
}

const failed = (text: string): Measured => ({ state: 'error', value: null, text });
const noData = (text: string, value: string | null = null): Measured => ({
  ...{ state: 'none', value },
  text: `no data: ${text}`,
});

function judgePage(page: Page, rule: PageRule): Measured {
  const { unmet } = compileCheck(rule)(page);
  const [wrongStatus] = unmet.filter(({ of }) => of === 'status');
  if (wrongStatus !== undefined)
    return { ...failed(wrongStatus.text), state: saysNothing(page.status) ? 'error' : 'bad' };
  const json = jsonOf(page.body);
  if (json === undefined && asksForJson(rule)) return failed('the answer is not JSON');
  const tooFew = tooFewIn(json, rule);
  if (tooFew !== null) return tooFew;
  const found = unmet.map(({ of, text, isMissing }): Measured =>
    of === 'json' && isMissing ? noData(text) : { state: 'bad', value: null, text },
  );
  const measured = rule.value === undefined ? null : measureValue(textAt(json, rule.value), rule.value, rule);
  const all = [...found, ...(measured === null ? [] : [measured])];
  return (
    all.find(({ state }) => state === 'bad') ?? all.find(({ state }) => state === 'none') ?? measured ?? AS_EXPECTED
  );
}

const AS_EXPECTED: Measured = { state: 'good', value: null, text: 'as expected' };

/** Of redirects, refusals and failures of a server, none is about the wave. */
const saysNothing = (status: number): boolean =>
  status >= 500 || (status >= 300 && status < 400) || [401, 403, 407, 408, 429].includes(status);

const asksForJson = ({ json, value, atLeast }: PageRule): boolean =>
  json !== undefined || value !== undefined || atLeast !== undefined;

function tooFewIn(json: unknown, { atLeast }: PageRule): Measured | null {
  if (atLeast === undefined) return null;
  const text = textAt(json, atLeast.value);
  if (text !== null && numberOf(text) >= atLeast.min) return null;
  return noData(`${atLeast.value} is ${text ?? 'missing'}, and has to be ${atLeast.min}`);
}

function measureValue(text: string | null, path: string, limits: Limits): Measured {
  if (text === null) return noData(`${path} is missing`);
  if (Number.isNaN(numberOf(text))) return noData(`${path} is "${shownText(text)}", which is not a number`);
  return judgeSamples([{ series: path, value: text }], limits);
}
