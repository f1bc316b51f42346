/** Makes text from outside (a status, an error body, `--meta`) safe to store and show. Pure. */

const MAX_LENGTH = 200;

/**
 * Replaces each stretch of control characters and of characters that change the text direction.
 *
 * @param by the replacement, or a function that makes it
 */
export function replaceUnprintable(text: string, by: string | ((found: string) => string)): string {
  // eslint-disable-next-line no-control-regex -- matches control characters to remove them
  const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;
  return text.replace(unprintable, typeof by === 'string' ? () => by : by);
}

/**
 * Returns one line of at most 200 characters, without control characters or characters that change the text direction.
 * Half of an emoji becomes a replacement character, because receivers that parse JSON strictly would refuse the whole
 * message for it.
 */
export function plainText(text: string, maxLength: number = MAX_LENGTH): string {
  const line = replaceUnprintable(text, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .trim();
  const characters = [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Makes a Markdown code span, so that no part of the text is taken as markup. */
export const codeSpan = (text: string): string => commandSpan(plainText(text));

/** Makes a Markdown code span of a whole command, however long it is. The Temporal UI would make one dash of two. */
export const commandSpan = (command: string): string => `\`${command.replaceAll('`', 'ˋ')}\``;

/** Quotes a word so that it can be pasted into a shell. */
export function shellWord(text: string): string {
  return /^[\w.:%~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function plainMeta(meta: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(meta).map(([name, value]) => [plainText(name), plainText(value)]));
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
