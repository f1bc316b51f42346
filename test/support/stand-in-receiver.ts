/** The receiver without Temporal: its HTTP server over a store in memory. */
import { pino } from 'pino';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import type { EventInput } from '../../src/features/events/shapes.ts';
import { createReceiver, type ReceiverOptions } from '../../src/webhooks/server.ts';
import { readSources } from '../../src/webhooks/sources.ts';

interface Stored {
  event: EventInput;
  startDelayMs: number;
}

export type Options = Partial<Omit<ReceiverOptions, 'sources' | 'configuration'>>;

/** Without sources, any name is one. */
export async function standInReceiver(configuration: Configuration = {}, options: Options = {}) {
  const sources = await readSources(configuration);
  const stored: Stored[] = [];
  const ids = new Set<string>();
  const store = {
    accept: (event: EventInput, startDelayMs = 0) => {
      const id = `${event.source}:${event.deliveryId}`;
      const isNew = !ids.has(id);
      if (isNew) stored.push({ event, startDelayMs });
      ids.add(id);
      return Promise.resolve(isNew);
    },
    acceptedAtMs: () => Promise.resolve(null),
    isReady: () => Promise.resolve(true),
    credentials: () => ({ areGood: true, certificateEndMs: null }),
    close: () => Promise.resolve(),
  };
  const app = createReceiver({
    sources: sources.size === 0 ? null : sources,
    configuration,
    store,
    log: pino({ level: 'silent' }),
    ...options,
  });
  const metrics = async () => (await app.inject('/metrics')).body;
  return { app, stored, metrics };
}
