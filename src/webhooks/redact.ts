/** Shortens a body and removes its secrets. The rest is enough to write a mapping from. Pure. */
import { isLosslessNumber } from 'lossless-json';
import { plainText } from '../contract/safe-text.ts';
import { isObject } from './parse-body.ts';

/** Matched against a key whose words are split by `_`. */
const SECRET_KEY = new RegExp(
  [
    'pass(word|phrase|wd|code)|pwd|secret|token|authoriz|apikey|credential|signature|cookie|session',
    '(^|_)(pass|auth|otp|pin|key|jwt|hmac|dsn)$',
    // Whoever reads such an address gets in.
    '(hook|login|reset|invite|magic|sign|private).*(url|uri|link)$',
  ].join('|'),
  'i',
);
/** Tokens in known formats, logins in URLs, and private keys. */
const SECRET_TEXT = new RegExp(
  [
    String.raw`\bauthorization:\s*\S+(\s+\S+)?`,
    String.raw`\b(bearer|basic)\s+\S+`,
    String.raw`\beyJ[\w-]{5,}(\.[\w-]*)*`,
    String.raw`\bwhsec_[\w+/=-]{8,}`,
    String.raw`\b(sk|pk|rk|xox[a-z]|glpat)[-_][\w-]{8,}`,
    String.raw`\b(gh[a-z]|github_pat)_\w{8,}`,
    String.raw`\b(AKIA\w{12,}|npm_\w{8,}|SG\.[\w-]{8,}\.[\w-]+|AIza[\w-]{20,}|\d{6,12}:[\w-]{30,})`,
    String.raw`\b(hooks\.slack\.com|discord(app)?\.com/api/webhooks)/\S+`,
    String.raw`//\S{1,500}@`,
    String.raw`(password|passwd|pwd|secret|token|signature|credential|[-_]key|apikey)["']?\s?[=:]\s?["']?[^&\s"']+`,
    String.raw`--[\w-]{0,30}(password|secret|token|key)\s+\S+`,
    '-----BEGIN[^]*',
  ].join('|'),
  'gi',
);
const REDACTED = '[redacted]';

/** Longer texts are cut first, because matching the patterns takes time. */
const MAX_LOOKED_AT = 1_000;
const MAX_ENTRIES = 50;
const MAX_VALUES = 400;

/** @param secrets removed wherever they occur */
export function redacted(body: unknown, secrets: readonly string[] = []): unknown {
  let left = MAX_VALUES;
  const text = (value: string) => redactedText(value, secrets);
  const keep = (value: unknown): unknown => {
    if ((left -= 1) < 0) return '[left out]';
    if (isLosslessNumber(value)) return numberOrText(text(value.value));
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(keep);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).slice(0, MAX_ENTRIES);
    return Object.fromEntries(
      entries.map(([key, inner]) => [text(key), isSecretKey(key) && inner !== null ? REDACTED : keep(inner)]),
    );
  };
  return keep(body);
}

/** `sshKey`, `ssh-key` and `SSH_KEY` are the same words. A key that is too long to look at counts as secret. */
function isSecretKey(key: string): boolean {
  if (key.length > MAX_LOOKED_AT) return true;
  const words = key.replace(/([a-z\d])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3_$2$4').replace(/[^\p{L}\p{N}]+/gu, '_');
  return SECRET_KEY.test(words) || SECRET_KEY.test(key);
}

/** Returns one line of text from outside, without anything that looks like a secret. */
export function redactedText(value: string, secrets: readonly string[]): string {
  const known = secrets.flatMap((it) => [it, it.replace(/^whsec_/, '')]).filter((it) => it !== '');
  const rest = known.reduce((left, secret) => left.replaceAll(secret, REDACTED), value);
  return plainText(rest.slice(0, MAX_LOOKED_AT).replace(SECRET_TEXT, REDACTED));
}

/** Keeps a number if JavaScript can represent it exactly. */
function numberOrText(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Lists the paths in a body with the types of their values, such as `data.server.id  number`. */
export function shapeOf(body: unknown, path = ''): string[] {
  if (Array.isArray(body)) return body.length === 0 ? [`${path}  empty list`] : shapeOf(body[0], `${path}[0]`);
  if (!isObject(body)) return [`${path}  ${isLosslessNumber(body) ? 'number' : body === null ? 'null' : typeof body}`];
  const entries = Object.entries(body);
  if (entries.length === 0) return [`${path}  empty object`];
  return entries.flatMap(([key, value]) => shapeOf(value, path === '' ? escaped(key) : `${path}.${escaped(key)}`));
}

const escaped = (key: string) => key.replace(/[\\.[]/g, '\\$&');
