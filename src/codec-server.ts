/** Program `belay codec-server`: decrypts payloads for the Temporal UI and CLI. It connects to nothing. */
import { startCodecServer, type CodecServerStart } from './encryption/codec-server.ts';
import { createLogger } from './process/log.ts';
import { runUntilSignal } from './process/signals.ts';

export async function runCodecServer(options: Omit<CodecServerStart, 'log'>): Promise<void> {
  const log = createLogger('info');
  const { url, close } = await startCodecServer({ ...options, log });
  log.info({ url, origin: options.origin ?? null }, 'listening');
  await runUntilSignal();
  await close();
}
