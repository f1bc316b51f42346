/**
 * Removes secrets of a request from what is kept of its answer, because an answer may echo its request. Call this after
 * parsing: a short secret also occurs in keys, words and ids, and replacing it there would change what the answer means.
 * A package of its own: it imports nothing of Belay.
 */

/** A shorter secret can be guessed, and ordinary words and ids contain it. */
const MIN_SECRET_LENGTH = 8;

/** Use this for text that people read. A short secret is removed only where it stands alone. */
export function hideSecret(text: string, secret: string, by: string): string {
  const forms = [...new Set([secret, JSON.stringify(secret).slice(1, -1)])];
  return forms.reduce(
    (left, form) =>
      secret.length >= MIN_SECRET_LENGTH
        ? left.replaceAll(form, by)
        : left.replace(new RegExp(`(?<![\\w-])${escaped(form)}(?![\\w-])`, 'g'), by),
    text,
  );
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** An id without its secret would be another id, so such an id is not used at all. */
export function holdsSecret(id: string, secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH && id.includes(secret);
}
