/**
 * Removes secrets of a request from what is kept of its answer, because an answer may echo its request. Call this after
 * parsing: a short secret also occurs in keys, words and ids, and replacing it there would change what the answer means.
 * Call it before a text is cut, because a part of a secret is not recognized. A package of its own: it imports nothing
 * of Belay.
 */

/** A shorter secret can be guessed, and ordinary words and ids contain it. */
const MIN_SECRET_LENGTH = 8;

/** Use this for text that people read. A short secret is removed only where it stands alone. */
export function hideSecret(text: string, secret: string, by: string): string {
  return text.replace(anySpelling(secret), () => by);
}

/** An id without its secret would be another id, so such an id is not used at all. */
export function holdsSecret(id: string, secret: string): boolean {
  return secret.length >= MIN_SECRET_LENGTH && anySpelling(secret).test(id);
}

function anySpelling(secret: string): RegExp {
  const spelled = [...secret].map(spellings).join('');
  return new RegExp(secret.length >= MIN_SECRET_LENGTH ? spelled : `(?<![\\w-])${spelled}(?![\\w-])`, 'gi');
}

/** A character as it is, as in JSON and as in a URL. PHP escapes slashes in JSON. */
function spellings(character: string): string {
  const inUrl = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const inJson = [...Array(character.length).keys()].map((at) => unicodeEscape(character.charCodeAt(at))).join('');
  const forms = [
    character,
    JSON.stringify(character).slice(1, -1),
    inJson,
    inUrl,
    ...(character === '/' ? ['\\/'] : []),
  ];
  return `(?:${[...new Set(forms)].map(escaped).join('|')})`;
}

const unicodeEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/* What a request sends beside its address, which belay.yaml names. */

/** What is to be kept of an answer, without the secrets of its request. */
export interface Hide {
  /** Use this for text that people read. */
  text: (text: string) => string;
  /** @returns null for an id that an echo may have given */
  id: (id: string) => string | null;
}

/** Nobody keeps such a word secret, and pages show it for other reasons. */
const NO_SECRET = /^(.{0,3}|true|false)$/is;

/** Between the words of a header or an address, such as those of cookies. */
const SEPARATORS = /[\s,;="&?]+/;

/**
 * Hides whole values, what follows the scheme of a value (`Bearer X`), and each long word of them.
 *
 * @param values of headers, and whatever else of a request is a secret
 */
export function hideAll(values: readonly string[]): Hide {
  const parts = values.flatMap((value) => [
    value.trim(),
    value.trim().replace(/^\S+\s+/, ''),
    ...value.split(SEPARATORS).filter((it) => it.length >= MIN_SECRET_LENGTH),
    ...loginIn(value),
  ]);
  // A longer one may contain a shorter one.
  const secrets = [...new Set(parts)].filter((it) => !NO_SECRET.test(it)).sort((a, b) => b.length - a.length);
  const text = (shown: string) => secrets.reduce((left, secret) => hideSecret(left, secret, '[hidden]'), shown);
  // An expression may have cut a secret.
  const isCut = (id: string) => secrets.some((it) => it.toLowerCase().includes(id.toLowerCase()));
  return { text, id: (id) => (text(id) !== id || isCut(id) ? null : id) };
}

/** A login of HTTP (RFC 7617) and its password, which a page may show decoded. */
function loginIn(value: string): string[] {
  const [, base64] = /^\s*Basic\s+(\S+)/i.exec(value) ?? [];
  if (base64 === undefined) return [];
  const login = Buffer.from(base64, 'base64').toString();
  return [login, login.replace(/^[^:]*:/, '')];
}
