/** Checks the address of a service, which identifies it and receives the API token, and finds the proxy to it. */
import { serviceIdentity } from '../../contract/service-identity.ts';
import { ConfigError, type Environment, given } from './variables.ts';

export const allowsHttp = (env: Environment): boolean => env.BELAY_ALLOW_HTTP === '1';

/** @returns the URL in the form that identifies the service. @throws ConfigError */
export function checkServiceUrl(text: string, allowHttp: boolean): string {
  const url = parseServiceUrl('BELAY_API_URL', text);
  if (url.hash !== '') throw new ConfigError('BELAY_API_URL must end before "#": name the account in BELAY_ACCOUNT');
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowHttp) {
    const remedy = 'use https, or set BELAY_ALLOW_HTTP=1';
    throw new ConfigError(`BELAY_API_URL would send the token to ${url.host} unencrypted: ${remedy}`);
  }
  return canonical(url);
}

/**
 * The identity of a service that a starter or belay.yaml names, such as `https://panel.example/t1#shop`.
 * @param where for errors: the option, variable or key
 * @param account the account if the text names none
 * @throws ConfigError
 */
export function checkServiceIdentity(where: string, text: string, account: string | null): string {
  const url = parseServiceUrl(where, text);
  const named = percentDecoded(url.hash.slice(1));
  if (named === null)
    throw new ConfigError(`${where} has an account after "#" that is not percent-encoded: write % as %25`);
  return serviceIdentity(canonical(url), named === '' ? account : named);
}

/** @returns null if it is not percent-encoded */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const canonical = (url: URL): string => url.origin + url.pathname.replace(/\/+$/, '');

function parseServiceUrl(where: string, text: string): URL {
  const url = parseUrl(where, text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigError(`${where} must begin with https://, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError(`${where} must not contain a user or password: set the token in BELAY_API_TOKEN`);
  }
  if (url.search !== '') throw new ConfigError(`${where} must end before "?"`);
  if (/\/v1\/?$/.test(url.pathname)) throw new ConfigError(`${where} must not end in /v1: Belay adds it`);
  return url;
}

export function parseUrl(variable: string, text: string): URL {
  // The message does not repeat the text, which may contain a password.
  if (!URL.canParse(text)) throw new ConfigError(`${variable} is not a URL: give one like https://host`);
  return new URL(text);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/*
 * Proxies: Belay's own, for requests to the service, and the usual variables, which Belay does not follow. The address of
 * a proxy may contain a password, so errors do not repeat it.
 */

/** Null if there is none. The usual variables, such as HTTPS_PROXY, do not count. @throws ConfigError */
export function proxyUrl(env: Environment): string | null {
  const text = given('BELAY_PROXY', env);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isProxy = url !== null && /^https?:$/.test(url.protocol) && /^\/?$/.test(url.pathname + url.search + url.hash);
  const isReadable = url !== null && [url.username, url.password].every((it) => percentDecoded(it) !== null);
  if (isProxy && isReadable) return text;
  throw new ConfigError(
    'BELAY_PROXY is not the address of a proxy: give one like http://proxy.internal:3128, with % as %25',
  );
}

const USUAL = ['grpc_proxy', 'https_proxy', 'http_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);

/** Names of the usual variables that are set. Their values may hold a password. */
export const usualProxies = (): string[] => USUAL.filter((name) => (process.env[name] ?? '') !== '');
