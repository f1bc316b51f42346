import { isTemporalCloud } from '../config/temporal-cloud.ts';
import { SEARCH_ATTRIBUTES } from '../contract/names.ts';
import { shellWord } from '../contract/safe-text.ts';
import type { AttributeName } from './search-attributes.ts';

/** As Temporal calls them: in commands, and as fields of its database, where two digits follow. */
export const TYPE_WORDS = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;

export interface AttributePlace {
  namespace: string;
  /** Of Temporal. */
  address: string;
}

/** The command that creates search attributes, for a person who may. */
export function createCommand(names: readonly AttributeName[], { namespace, address }: AttributePlace): string {
  const types = names.map((name) => [name, TYPE_WORDS[SEARCH_ATTRIBUTES[name]]] as const);
  const where = shellWord(namespace);
  if (isTemporalCloud(address)) {
    const all = types.map(([name, type]) => `--sa ${name}=${type}`);
    return ['tcld namespace search-attributes add', `--namespace ${where}`, ...all].join(' ');
  }
  const all = types.map(([name, type]) => `--name ${name} --type ${type}`);
  return ['temporal operator search-attribute create', `--namespace ${where}`, ...all].join(' ');
}
