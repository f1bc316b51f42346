/** What the HTTP servers have in common: how they listen, and the secret that they ask for. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { checkedSource } from './secrets.ts';
import { ConfigError } from './variables.ts';

/** 0 = any free port. A `likely` port falls back to any free port if it is in use. */
export type WantedPort = number | { likely: number };

interface ListenOptions {
  host: string;
  port: WantedPort;
}

/** @returns the URL. @throws ConfigError for an address that cannot be used */
export async function listen(
  app: { listen: (at: { host: string; port: number }) => Promise<string> },
  { host, port: wanted }: ListenOptions,
): Promise<string> {
  const port = typeof wanted === 'number' ? wanted : wanted.likely;
  return app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE' && typeof wanted !== 'number') return app.listen({ host, port: 0 });
    throw unusable(error, { host, port });
  });
}

/** @returns a ConfigError if the address cannot be used, else the error itself */
export function unusable(error: NodeJS.ErrnoException, { host, port }: ListenOptions & { port: number }): Error {
  if (error.code === 'EADDRINUSE')
    return new ConfigError(`port ${port} is in use: choose another one with --port, or 0 for any free port`);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new ConfigError(`--host ${host}: this machine has no such address`);
  return error;
}

/** @param option that names the file @returns what reads the secret again @throws ConfigError if it cannot be used */
export const openSecret = (option: string, file: string): Promise<() => Promise<string>> =>
  checkedSource(option, { file }, (secret) => {
    if (/^[\x21-\x7e]{16,}$/.test(secret)) return secret;
    throw new ConfigError(`${option}: ${file}: use one line of at least 16 letters, digits and signs`);
  });

/** Compares in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestOf(one), digestOf(other));
}
