/** A stateful emulator of the hosting service, for the demo, for experiments and for tests. */
import fastify from 'fastify';
import { controlRoutes } from './control-routes.ts';
import { createControls, type Controls } from './controls.ts';
import { createDeliveries } from './deliveries.ts';
import { createLifetime } from './lifetime.ts';
import type { Kind, ScriptPart } from './script.ts';
import { serviceRoutes } from './routes.ts';
import { createState } from './state.ts';
import { createAnnouncer } from './announce.ts';

export interface Sandbox extends Controls {
  readonly url: string;
  close(): Promise<void>;
}

export interface SandboxOptions {
  token: string;
  host?: string;
  /** 0 = any free port */
  port?: number;
  /** Changes to the default scripts. */
  defaults?: Partial<Record<Kind, ScriptPart>>;
}

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const lifetime = createLifetime();
  const deliveries = createDeliveries(lifetime);
  const announcer = createAnnouncer(lifetime, (event) => deliveries.send(event));
  const { token, defaults } = options;
  const state = createState({ token, defaults, onBegin: (operation) => announcer.begun(operation) });
  const controls = createControls(state, announcer, deliveries);
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 4_096 } });
  // The API routes ignore bodies, and fastify would reject an empty body of type JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  serviceRoutes(app, state);
  controlRoutes(app, controls);
  const url = await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  const close = async () => {
    lifetime.end();
    await app.close();
  };
  return { ...controls, url, close };
}
