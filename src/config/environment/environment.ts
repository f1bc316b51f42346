/** Reads environment variables. Only this folder does, except for Temporal's own, which @temporalio/envconfig reads. */
import { homedir, hostname, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { given, nonEmpty, setting, type Environment, ConfigError } from './variables.ts';
import { proxyUrl, allowsHttp, checkServiceIdentity, checkServiceUrl, parseUrl } from './service-url.ts';
import { tokenSource } from './secrets.ts';
import type { WorkerVersion } from '../../contract/worker-identity.ts';

export interface ServiceConfig {
  baseUrl: string;
  /** Default: the URL serves one account. */
  account?: string | null;
  /** Default: the first one. */
  epoch?: string;
  token: () => Promise<string>;
  /** URL of the proxy for requests to the service. */
  proxy?: string;
  /** Ceiling of all workers together. Default: none. */
  maxRequestsPerSecond?: number;
}

/** The URL and token of the service; null if `BELAY_API_URL` is not set. @throws ConfigError */
export async function serviceConfig(env: Environment = process.env): Promise<ServiceConfig | null> {
  const url = given('BELAY_API_URL', env);
  if (url === null) return null;
  const proxy = proxyUrl(env);
  const ceiling = maxRequestsPerSecond(env);
  const config = {
    baseUrl: checkServiceUrl(url, allowsHttp(env)),
    account: namedAccount(env),
    epoch: currentEpoch(env),
    token: tokenSource(env),
    ...(proxy === null ? {} : { proxy }),
    ...(ceiling === null ? {} : { maxRequestsPerSecond: ceiling }),
  };
  await config.token();
  return config;
}

export const currentEpoch = (env: Environment = process.env): string => setting('BELAY_EPOCH', env);

export const namedAccount = (env: Environment = process.env): string | null => given('BELAY_ACCOUNT', env);

/** The identity of the service that `BELAY_SERVICE` names, or null. @throws ConfigError */
export function namedService(env: Environment = process.env): string | null {
  const text = given('BELAY_SERVICE', env);
  return text === null ? null : checkServiceIdentity('BELAY_SERVICE', text, namedAccount(env));
}

/** @param where for errors. @throws ConfigError */
export function identityFrom(where: string, text: string, env: Environment = process.env): string {
  return checkServiceIdentity(where, text, namedAccount(env));
}

/** Whether the environment has anything that only a worker needs. */
export const isServiceConfigured = (): boolean =>
  (['BELAY_API_URL', 'BELAY_API_TOKEN', 'BELAY_API_TOKEN_FILE'] as const).some((name) => given(name) !== null);

/** @throws ConfigError */
export function requireService(config: ServiceConfig | null): ServiceConfig {
  if (config !== null) return config;
  throw new ConfigError('BELAY_API_URL is not set: give the base URL of the hosting service, https://… without /v1');
}

export const homeFolder = (): string => resolve(setting('BELAY_HOME'));

export const taskQueue = (env: Environment = process.env): string => setting('BELAY_TASK_QUEUE', env);

/** The configuration file, and whether BELAY_CONFIG names it. */
export interface ConfigFile {
  path: string;
  /** False: it may be missing. */
  isNamed: boolean;
}

export const configFile = (env: Environment = process.env): ConfigFile => ({
  path: setting('BELAY_CONFIG', env),
  isNamed: given('BELAY_CONFIG', env) !== null,
});

export const acceptsPlainPayloads = (): boolean => given('BELAY_CODEC_ACCEPT_PLAIN') === '1';

/** The address of the Temporal UI, without a slash at the end; null if it is not set. @throws ConfigError */
export function uiUrl(env: Environment = process.env): string | null {
  const url = given('BELAY_UI_URL', env);
  return url === null ? null : checkUiUrl('BELAY_UI_URL', url);
}

/** @param where for the message, which does not repeat the address: it may hold a password @throws ConfigError */
export function checkUiUrl(where: string, text: string): string {
  const { protocol, username, password } = parseUrl(where, text);
  if (!/^https?:$/.test(protocol)) throw new ConfigError(`${where} must begin with https:// or http://`);
  if (username === '' && password === '') return text.replace(/\/+$/, '');
  throw new ConfigError(`${where} must not contain a user or password: it becomes a part of links that others see`);
}

/** Whether the environment names a Temporal server. */
export const isTemporalConfigured = (): boolean =>
  given('TEMPORAL_ADDRESS') !== null || given('TEMPORAL_PROFILE') !== null;

export const cacheFolder = (): string => join(given('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'belay');

/** What every program needs. Anything else in the environment may be a secret. */
const FOR_PROGRAMS =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LC_\w+|TMPDIR|TMP|TEMP|XDG_\w+|SSL_CERT_(FILE|DIR)|SystemRoot|USERPROFILE|(LOCAL)?APPDATA)$/i;
/** What a build with Go needs besides, to reach its module proxy. */
const FOR_BUILDS =
  /^(GO(PROXY|FLAGS|PATH|ROOT|CACHE|MODCACHE|TMPDIR|TOOLCHAIN|SUMDB|NOSUMDB|PRIVATE|NOPROXY|INSECURE|ENV|OS|ARCH|MAXPROCS)|(HTTPS?|NO|ALL)_PROXY)$/i;

const allowed =
  (...lists: RegExp[]) =>
  (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
    Object.fromEntries(Object.entries(env).filter(([name]) => lists.some((list) => list.test(name))));

/** The environment for the programs that Belay starts. */
export const childEnvironment = allowed(FOR_PROGRAMS);

/** The environment for building a program. */
export const buildEnvironment = allowed(FOR_PROGRAMS, FOR_BUILDS);

/** Whether npm or npx started this process. */
export const startedByNpm = (): boolean => nonEmpty(process.env.npm_command) !== null;

/* The ceiling of requests to the service. */

/** Requests per second of all workers together; null for no ceiling. @throws ConfigError */
function maxRequestsPerSecond(env: Environment): number | null {
  const text = given('BELAY_MAX_RPS', env);
  if (text === null) return null;
  const perSecond = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (perSecond > 0 && Number.isFinite(perSecond)) return perSecond;
  throw new ConfigError(`BELAY_MAX_RPS is not a number of requests per second: give one above 0, like 10 or 0.5`);
}

/* Where a worker serves its health and metrics. */

const ALL_ADDRESSES = '0.0.0.0';
const MAX_PORT = 65_535;

/** Null: it does not serve them. @throws ConfigError */
export function metricsAddress(env: Environment = process.env): { host: string; port: number } | null {
  const text = given('BELAY_METRICS_ADDRESS', env);
  if (text === null) return null;
  const match = /^(?<host>\[[\da-f:]+\]|[\w.-]*):(?<port>\d{1,5})$/i.exec(text);
  const port = Number(match?.groups?.port ?? Infinity);
  if (port > MAX_PORT) {
    throw new ConfigError(`BELAY_METRICS_ADDRESS is not an address: give host:port, like 127.0.0.1:9464 or :9464`);
  }
  const host = (match?.groups?.host ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? ALL_ADDRESSES : host, port };
}

/* Which search attributes workers and starters use. */

const MODES = ['register', 'assume', 'off'] as const;

/** Whether search attributes are used: those that a worker finds or registers, all without asking, or none. */
export type SearchAttributeMode = (typeof MODES)[number];

/** @throws ConfigError */
export function searchAttributeMode(): SearchAttributeMode {
  const text = setting('BELAY_SEARCH_ATTRIBUTES');
  const mode = MODES.find((it) => it === text);
  if (mode !== undefined) return mode;
  throw new ConfigError(`BELAY_SEARCH_ATTRIBUTES is "${text}": set it to register, assume or off`);
}

/* Where traces go, in the variables that every exporter of OpenTelemetry reads. */

/** Whether traces are exported. @throws ConfigError for an address that the exporter could not use */
export function exportsTraces(): boolean {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const) {
    const address = given(name);
    if (address === null) continue;
    if (/^https?:$/.test(parseUrl(name, address).protocol)) return true;
    throw new ConfigError(`${name} must begin with http:// or https://: Belay exports traces by OTLP over HTTP`);
  }
  return false;
}

/* The version of a worker, in the variables that Temporal's Worker Controller sets. */

/** Temporal joins the name and the build id with `.` or `:`, and keeps names that begin with `__` for itself. */
const FORBIDDEN = /[.:]|^__/;

/** Null: the worker is not versioned. @throws ConfigError */
export function workerVersion(env: Environment = process.env): WorkerVersion | null {
  const deploymentName = given('TEMPORAL_DEPLOYMENT_NAME', env);
  const buildId = given('TEMPORAL_WORKER_BUILD_ID', env);
  if (deploymentName === null && buildId === null) return null;
  if (deploymentName === null || buildId === null) {
    const [set, missing] =
      buildId === null
        ? ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID']
        : ['TEMPORAL_WORKER_BUILD_ID', 'TEMPORAL_DEPLOYMENT_NAME'];
    throw new ConfigError(`${set} is set without ${missing}: set both for a versioned worker, or neither`);
  }
  if (!FORBIDDEN.test(deploymentName)) return { deploymentName, buildId };
  throw new ConfigError(
    `TEMPORAL_DEPLOYMENT_NAME: "${deploymentName}" cannot be the name of a deployment: use one without "." and ":" that does not begin with "__"`,
  );
}

/* What GitHub Actions sets for a job. */

/** What GitHub Actions gives to a job that may ask for a token about itself. The job sets it, no person does. */
export function tokenRequest(): { address: string | null; secret: string | null } {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address = null, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret = null } = process.env;
  return { address, secret };
}

/** Whether a job of GitHub Actions reads what is printed. */
export const isGithubActions = (): boolean => process.env['GITHUB_ACTIONS'] === 'true';

/* Who uses this process, for what Temporal records about a start or a decision. */

export const signature = (): string => `${userName()}@${hostname()}`;

/** In a container, the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
