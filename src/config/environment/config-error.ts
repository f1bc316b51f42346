/** An error in the configuration. The message names the variable or key, and how to fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
