/**
 * Takes the token out of what is kept of an answer, because a service may echo its request. Call it after parsing:
 * a short token also occurs in keys, words and ids, and replacing it there would change what the answer means.
 */

/** Anyone can guess a shorter token, and ordinary words and ids contain it. */
const MIN_SECRET_LENGTH = 8;

/** The final states of the interface. They are no secret, even if the token is such a word. */
const DOCUMENTED_STATUS = /^(completed|failed)$/i;

/** For text that people read. A short token is removed only where it stands alone. */
export function hideToken(text: string, token: string): string {
  const forms = [...new Set([token, JSON.stringify(token).slice(1, -1)])];
  return forms.reduce(
    (left, form) =>
      token.length >= MIN_SECRET_LENGTH
        ? left.replaceAll(form, '[token]')
        : left.replace(new RegExp(`(?<![\\w-])${escaped(form)}(?![\\w-])`, 'g'), '[token]'),
    text,
  );
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

export function hideInStatus(status: string, token: string): string {
  return DOCUMENTED_STATUS.test(status) ? status : hideToken(status, token);
}

/** An id without its token would be another id, so such an id is not used at all. */
export function holdsToken(id: string, token: string): boolean {
  return token.length >= MIN_SECRET_LENGTH && id.includes(token);
}
