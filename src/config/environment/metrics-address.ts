/** Where a worker serves its health and metrics. */
import { ConfigError } from './config-error.ts';
import { given, type Environment } from './variables.ts';

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
