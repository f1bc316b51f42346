/**
 * Program `belay board`: shows the fleet on a page. It changes nothing, and needs the API token only to read statuses.
 */
import { findServiceConfig } from './config/find-temporal.ts';
import { startBoard, type BoardServerOptions } from './features/board/server.ts';
import { createLogger } from './process/log.ts';
import { runUntilSignal } from './process/signals.ts';

export async function runBoard(options: Omit<BoardServerOptions, 'log' | 'service'>): Promise<void> {
  const log = createLogger('info');
  const service = await findServiceConfig();
  const { url, close } = await startBoard({ ...options, service, log });
  log.info({ url, service: service?.baseUrl ?? null }, 'listening');
  await runUntilSignal();
  await close();
}
