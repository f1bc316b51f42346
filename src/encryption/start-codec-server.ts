/** Checks the options of the codec server and starts it. */
import { ConfigError } from '../config/environment/config-error.ts';
import { codecKeysFile } from '../config/environment/environment.ts';
import { secretSource } from '../config/environment/secrets.ts';
import { isLoopback } from '../config/environment/service-url.ts';
import type { Logger } from '../process/log.ts';
import { createKeyRing } from './key-ring.ts';
import { createEncryptingCodec } from './payload-codec.ts';
import { createCodecServer } from './codec-server.ts';

export interface StartOptions {
  host: string;
  /** 0 = any free port */
  port: number;
  /** Of the Temporal UI. */
  origin?: string;
  tokenFile?: string;
  /** Something in front asks for credentials. */
  unauthenticated?: boolean;
  log: Logger;
}

/** @throws ConfigError */
export async function startCodecServer(options: StartOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const { host, port, origin, log } = options;
  const path = codecKeysFile();
  if (path === null) throw new ConfigError('BELAY_CODEC_KEYS_FILE is not set: give the key file of the workers');
  const keys = createKeyRing({ path, warn: (message) => log.warn(message) });
  const token = await tokenOf(options);
  const app = createCodecServer({
    // It decides nothing by what it reads, and the UI also sends payloads that Temporal itself made.
    codec: createEncryptingCodec(keys, true),
    origin: origin === undefined ? null : checkOrigin(origin),
    token,
    log,
  });
  const url = await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw new ConfigError(`port ${port} is in use: choose another one with --port`);
    if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
      throw new ConfigError(`--host ${host}: this machine has no such address`);
    }
    throw error;
  });
  return { url, close: () => app.close() };
}

/** Without a token, every caller can decrypt what it has in encrypted form. */
async function tokenOf({ host, tokenFile, unauthenticated = false }: StartOptions) {
  if (tokenFile !== undefined) {
    const read = tokenReader(tokenFile);
    await read();
    return read;
  }
  if (isLoopback(host) || unauthenticated) return null;
  const remedy = 'give --token-file, or --unauthenticated behind a proxy that asks for credentials';
  throw new ConfigError(`--host ${host}: beyond loopback, anyone could decrypt: ${remedy}`);
}

function tokenReader(file: string): () => Promise<string> {
  const read = secretSource('--token-file', { file });
  return async () => {
    const token = await read();
    if (/^[\x21-\x7e]{16,}$/.test(token)) return token;
    throw new ConfigError(`--token-file: ${file}: use one line of at least 16 letters, digits and signs`);
  };
}

/** @throws ConfigError */
function checkOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new ConfigError(`--origin: not an origin: give scheme, host and port only, like https://temporal.example.com`);
}
