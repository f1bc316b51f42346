/** Text from outside (a status, an error body, `--meta`), made safe to keep and to show. Pure. */

const MAX_LENGTH = 200;
// eslint-disable-next-line no-control-regex -- control characters are what is taken out
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** At most 200 characters in one line, without control characters or those that turn text around. */
export function plainText(text: string, maxLength: number = MAX_LENGTH): string {
  const line = text.replace(UNPRINTABLE, ' ').trim();
  const characters = [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** As a code span of Markdown: nothing inside it is markup. */
export function codeSpan(text: string): string {
  return `\`${plainText(text).replaceAll('`', 'ˋ')}\``;
}

/** A word for a shell, to be copied. */
export function shellWord(text: string): string {
  return /^[\w.:%~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Words of the service are one where only case and the blanks around them differ. */
export const wordKey = (word: string): string => word.trim().toLowerCase();
