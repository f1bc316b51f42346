import { ConfigError } from './config-error.ts';
import { setting, type Environment } from './variables.ts';

const MODES = ['register', 'assume', 'off'] as const;

/** Whether search attributes are used: those that a worker finds or registers, all without asking, or none. */
export type SearchAttributeMode = (typeof MODES)[number];

/** @throws ConfigError */
export function searchAttributeMode(env: Environment = process.env): SearchAttributeMode {
  const text = setting('BELAY_SEARCH_ATTRIBUTES', env);
  const mode = MODES.find((it) => it === text);
  if (mode !== undefined) return mode;
  throw new ConfigError(`BELAY_SEARCH_ATTRIBUTES is "${text}": set it to register, assume or off`);
}
