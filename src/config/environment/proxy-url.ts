/** Proxies: Belay's own, for requests to the service, and the usual variables, which it does not follow. One may hold a password, so errors do not repeat it. */
import { ConfigError } from './config-error.ts';
import { given, type Environment } from './variables.ts';

/** Null if there is none. The usual variables, such as HTTPS_PROXY, do not count. @throws ConfigError */
export function proxyUrl(env: Environment): string | null {
  const text = given('BELAY_PROXY', env);
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isProxy = url !== null && /^https?:$/.test(url.protocol) && /^\/?$/.test(url.pathname + url.search + url.hash);
  if (isProxy) return text;
  throw new ConfigError('BELAY_PROXY is not the address of a proxy: give one like http://proxy.internal:3128');
}

const USUAL = ['grpc_proxy', 'https_proxy', 'http_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);

/** Names of the usual variables that are set. Their values may hold a password. */
export const usualProxies = (env: NodeJS.ProcessEnv = process.env): string[] =>
  USUAL.filter((name) => (env[name] ?? '') !== '');
