/** The only reader of the environment. Temporal's own variables are read by @temporalio/envconfig. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { DEFAULT_TASK_QUEUE } from '../../contract/run.ts';

type Environment = Record<string, string | undefined>;

/** Something in the configuration is wrong; the message names the variable and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface ServiceConfig {
  baseUrl: string;
  token: () => Promise<string>;
}

/** Where the service is and how to be let in; null where `BELAY_API_URL` isn't set. @throws ConfigError */
export async function serviceConfig(env: Environment = process.env): Promise<ServiceConfig | null> {
  const url = set(env.BELAY_API_URL);
  if (url === null) return null;
  const config = { baseUrl: checkServiceUrl(url, env.BELAY_ALLOW_HTTP === '1'), token: tokenSource(env) };
  await config.token();
  return config;
}

/** @throws ConfigError */
export function requireService(config: ServiceConfig | null): ServiceConfig {
  if (config !== null) return config;
  throw new ConfigError('BELAY_API_URL is not set: give the base URL of the hosting service, https://… without /v1');
}

export const homeFolder = (env: Environment = process.env): string => resolve(set(env.BELAY_HOME) ?? '.belay');

export const taskQueue = (env: Environment = process.env): string => set(env.BELAY_TASK_QUEUE) ?? DEFAULT_TASK_QUEUE;

/** The configuration file, and whether somebody named it. */
export const configFile = (env: Environment = process.env): { path: string; isNamed: boolean } => ({
  path: set(env.BELAY_CONFIG) ?? 'belay.yaml',
  isNamed: set(env.BELAY_CONFIG) !== null,
});

/** Where people reach the Temporal UI, without a slash at the end; null where nobody said. @throws ConfigError */
export function uiUrl(env: Environment = process.env): string | null {
  const url = set(env.BELAY_UI_URL);
  if (url === null) return null;
  if (!/^https?:$/.test(parseUrl('BELAY_UI_URL', url).protocol)) {
    throw new ConfigError(`BELAY_UI_URL is not a web address: ${url}`);
  }
  return url.replace(/\/+$/, '');
}

/** Whether somebody said which Temporal to use. */
export const namesTemporal = (env: Environment = process.env): boolean =>
  set(env.TEMPORAL_ADDRESS) !== null || set(env.TEMPORAL_PROFILE) !== null;

function set(value: string | undefined): string | null {
  return value === undefined || value.trim() === '' ? null : value.trim();
}

function checkServiceUrl(text: string, allowHttp: boolean): string {
  const url = parseUrl('BELAY_API_URL', text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigError(`BELAY_API_URL must begin with https://, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError('BELAY_API_URL must not hold a user or password: the token goes into BELAY_API_TOKEN');
  }
  if (url.search !== '' || url.hash !== '') throw new ConfigError('BELAY_API_URL must end before "?" and "#"');
  if (/\/v1\/?$/.test(url.pathname)) throw new ConfigError('BELAY_API_URL must not end in /v1: Belay adds it');
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowHttp) {
    const remedy = 'use https, or set BELAY_ALLOW_HTTP=1';
    throw new ConfigError(`BELAY_API_URL would send the token to ${url.host} unencrypted: ${remedy}`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function parseUrl(variable: string, text: string): URL {
  // The text itself is not repeated: it may hold a password.
  if (!URL.canParse(text)) throw new ConfigError(`${variable} is not a URL: give one like https://host`);
  return new URL(text);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Where a secret of the configuration file stands. */
export type SecretPlace = { env: string } | { file: string };

/**
 * Reads a secret, each time anew: a rotated file needs no restart.
 * @param key of the configuration file, for errors
 * @throws ConfigError now or later, which names the place and never the secret
 */
export function secretSource(key: string, place: SecretPlace, env: Environment = process.env): () => Promise<string> {
  if ('env' in place) {
    const secret = set(env[place.env]);
    if (secret === null) throw new ConfigError(`${key}: the variable ${place.env} is not set`);
    return () => Promise.resolve(secret);
  }
  return async () => {
    const text = await readSecretFile(key, place.file);
    if (text !== '') return text;
    throw new ConfigError(`${key}: the file ${place.file} is empty`);
  };
}

/** @throws ConfigError that names the place and never the address, which may hold a secret */
export function checkAddress(key: string, address: string, env: Environment = process.env): string {
  // A URL parser would join lines.
  if (/\s/.test(address) || !URL.canParse(address)) throw new ConfigError(`${key}: what stands there is no URL`);
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') throw new ConfigError(`${key}: the address must hold no user or password`);
  const isAllowed =
    protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || env.BELAY_ALLOW_HTTP === '1'));
  if (isAllowed) return address;
  throw new ConfigError(`${key}: the address must begin with https://, or set BELAY_ALLOW_HTTP=1`);
}

async function readSecretFile(key: string, file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`${key}: ${file} cannot be read (${error.code ?? 'unknown error'})`);
  });
  return text.trim();
}

/** The token, for every request anew: a rotated file needs no restart. */
function tokenSource(env: Environment): () => Promise<string> {
  const [token, file] = [set(env.BELAY_API_TOKEN), set(env.BELAY_API_TOKEN_FILE)];
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

function checkToken(source: string, token: string): string {
  if (token === '') throw new ConfigError(`${source} is empty: put the API token there`);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigError(`${source} holds no token: it has blanks or characters no HTTP header can carry`);
  }
  return token;
}

export const cacheFolder = (env: Environment = process.env): string =>
  join(set(env.XDG_CACHE_HOME) ?? join(homedir(), '.cache'), 'belay');

/** The environment for programs we start: they need no token. */
export function childEnvironment(env: Environment = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BELAY_API_TOKEN')));
}

/** Whether npm or npx stands between us and whoever started us. */
export const startedByNpm = (env: Environment = process.env): boolean => set(env.npm_command) !== null;
