/** The ceiling of requests to the service. */
import { ConfigError } from './config-error.ts';
import { given, type Environment } from './variables.ts';

/** Requests per second of all workers together; null for no ceiling. @throws ConfigError */
export function maxRequestsPerSecond(env: Environment): number | null {
  const text = given('BELAY_MAX_RPS', env);
  if (text === null) return null;
  const perSecond = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (perSecond > 0 && Number.isFinite(perSecond)) return perSecond;
  throw new ConfigError(`BELAY_MAX_RPS is not a number of requests per second: give one above 0, like 10 or 0.5`);
}
