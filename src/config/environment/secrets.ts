/** Secrets: the API token, and those that belay.yaml names. Errors name the place and never the secret. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { given, nonEmpty, unreadableFile, type Environment, ConfigError } from './variables.ts';
import { allowsHttp, isLoopback } from './service-url.ts';

/** Where to find a secret that the configuration file refers to. */
export type SecretRef = { env: string } | { file: string };

/**
 * Reads a secret. Each call reads its file again, so that rotating it needs no restart.
 * @param key of the configuration file, for errors
 * @throws ConfigError now or when the secret is read. It names the place and never the secret.
 */
export function secretSource(key: string, place: SecretRef): () => Promise<string> {
  if ('env' in place) {
    const secret = nonEmpty(process.env[place.env]);
    if (secret === null) throw new ConfigError(`${key}: the variable ${place.env} is not set: set it for this program`);
    return () => Promise.resolve(secret);
  }
  return async () => {
    const text = await readSecretFile(key, place.file);
    if (text !== '') return text;
    throw new ConfigError(`${key}: the file ${place.file} is empty: write the secret into it`);
  };
}

/** Checks the secret now, and again at each use. @throws ConfigError */
export async function checkedSource(
  key: string,
  place: SecretRef,
  check: (secret: string) => string,
): Promise<() => Promise<string>> {
  const source = secretSource(key, place);
  const read = async () => check(await source());
  await read();
  return read;
}

const [LEAST_BYTES, MOST_BYTES] = [24, 64];

/** What is wrong with a secret of Standard Webhooks, and how to fix it; or null. */
export function problemOfStandardSecret(secret: string): string | null {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const form = `whsec_ followed by the base64 of ${LEAST_BYTES} to ${MOST_BYTES} bytes`;
  if (base64 === '' || base64.length % 4 !== 0) return `not a Standard Webhooks secret: use ${form}`;
  const { length } = Buffer.from(base64, 'base64');
  if (length < LEAST_BYTES) return `the secret is too short: use ${form}`;
  return length > MOST_BYTES ? `the secret is too long: use ${form}` : null;
}

/** @throws ConfigError that names the key and never the address, which may contain a secret */
export function checkAddress(key: string, address: string): string {
  // A URL parser would remove line breaks.
  if (/\s/.test(address) || !URL.canParse(address)) throw new ConfigError(`${key}: the address is not a URL`);
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '')
    throw new ConfigError(`${key}: the address must not contain a user or password`);
  const isAllowed =
    protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || allowsHttp(process.env)));
  if (isAllowed) return address;
  throw new ConfigError(`${key}: the address must begin with https://; for http://, set BELAY_ALLOW_HTTP=1`);
}

async function readSecretFile(key: string, file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`${key}: ${unreadableFile(file, error)}`);
  });
  // PowerShell writes UTF-16, in which every other byte of a token is zero.
  if (bytes.includes(0) || !isUtf8(bytes)) throw new ConfigError(`${key}: ${file} is not UTF-8: save it as UTF-8`);
  return bytes.toString('utf8').trim();
}

/** Each request reads the token's file again, so that rotating it needs no restart. */
export function tokenSource(env: Environment): () => Promise<string> {
  const [token, file] = [given('BELAY_API_TOKEN', env), given('BELAY_API_TOKEN_FILE', env)];
  if (token !== null && file !== null) {
    throw new ConfigError('BELAY_API_TOKEN and BELAY_API_TOKEN_FILE are both set: unset one of them');
  }
  if (token !== null) {
    const checked = checkToken('BELAY_API_TOKEN', token);
    return () => Promise.resolve(checked);
  }
  if (file === null) throw new ConfigError('no API token: set BELAY_API_TOKEN or BELAY_API_TOKEN_FILE');
  return async () => checkToken('BELAY_API_TOKEN_FILE', await readSecretFile('BELAY_API_TOKEN_FILE', file));
}

/** @throws ConfigError unless an HTTP header can carry it */
export function checkToken(source: string, token: string): string {
  if (token === '') throw new ConfigError(`${source} is empty: set it to the API token`);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigError(
      `${source} is not a token: it contains spaces or characters that an HTTP header cannot carry`,
    );
  }
  return token;
}
