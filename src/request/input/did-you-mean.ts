/** Finds the name that was probably meant. Pure. */
import { closest, distance } from 'fastest-levenshtein';

/** @returns ` (did you mean maxAtOnce?)`, or an empty text if no name is near */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0) return '';
  const plain = word.toLowerCase();
  const name = known.find((it) => it.toLowerCase() === plain) ?? closest(word, known);
  const mostChanges = Math.ceil(word.length / 3);
  return distance(plain, name.toLowerCase()) > mostChanges ? '' : ` (did you mean ${name}?)`;
}
