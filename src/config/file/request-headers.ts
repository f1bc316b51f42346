/** Headers of requests that belay.yaml describes. */
import { secretSource, type SecretRef } from '../environment/secrets.ts';

/**
 * Each call reads the secrets again.
 * @param key of the configuration file, for errors
 * @throws ConfigError now or later if one is missing. It names the place only.
 */
export function headersSource(
  key: string,
  headers: Readonly<Record<string, string | SecretRef>>,
): () => Promise<Record<string, string>> {
  const sources = Object.entries(headers).map(([header, value]): [string, () => Promise<string>] => [
    header,
    typeof value === 'string' ? () => Promise.resolve(value) : secretSource(`${key}.${header}`, value),
  ]);
  return async () =>
    Object.fromEntries(await Promise.all(sources.map(async ([header, read]) => [header, await read()] as const)));
}
