/** The README, to test its examples. */
import { readFileSync } from 'node:fs';

export const ROOT = new URL('../../', import.meta.url);
export const README = readFileSync(new URL('README.md', ROOT), 'utf8');

/** @param language the word after the fence; empty for output */
export function codeBlocks(language: string): string[] {
  return [...README.matchAll(/^```(\w*)\n([^]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => text);
}
