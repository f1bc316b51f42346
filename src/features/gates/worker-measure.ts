/** Measures for gates, each kind in a file. A package of its own: of Belay, it imports only the reader of sites. */
import type { GetPage } from './ask-page.ts';
import { measurePage, type PageRule } from './measure-page.ts';
import { measureQuery, type QueryRule } from './measure-query.ts';
import type { Measured, Place } from './measured.ts';
import type { Words } from './worker-words.ts';

export { namesWord, wordsIn, type Word, type Words } from './worker-words.ts';
export type { GetPage } from './ask-page.ts';
export type { Place } from './measured.ts';

type Rule = ({ kind: 'prometheus' } & QueryRule) | ({ kind: 'http' } & PageRule);

/** @throws SyntaxError for a rule that cannot be understood */
export async function measure(rule: Rule, words: Words, place: Place, getPage: GetPage): Promise<Measured> {
  switch (rule.kind) {
    case 'prometheus':
      return measureQuery(rule, words, place, getPage);
    case 'http':
      return measurePage(rule, place, getPage);
  }
}
