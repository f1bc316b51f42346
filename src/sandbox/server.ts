/** A stateful emulator of the hosting service, for the demo, for trying things out, and for tests. */
import fastify from 'fastify';
import { controlRoutes } from './control.ts';
import { serviceRoutes } from './routes.ts';
import type { Kind, ScriptPart } from './script.ts';
import { createState, type JournalEntry } from './state.ts';

export type Target = { site: string } | { server: string };

export interface Sandbox {
  readonly url: string;
  readonly journal: readonly JournalEntry[];
  /** Sets how the next operations on a target go, one script each; the last one stays. */
  script(target: Target, ...scripts: ScriptPart[]): void;
  /** Somebody else acts: a push deploys the site, or another user backs the server up. */
  act(target: Target): void;
  /** Accepts this token from now on. */
  setToken(token: string): void;
  close(): Promise<void>;
}

export interface SandboxOptions {
  token: string;
  host?: string;
  /** 0 = any free port */
  port?: number;
  /** What differs from the default scripts. */
  defaults?: Partial<Record<Kind, ScriptPart>>;
}

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const state = createState(options.defaults);
  let token = options.token;
  const controls = {
    journal: state.journal,
    script(target: Target, ...scripts: ScriptPart[]) {
      const [kind, id] = operationOn(target);
      state.script(kind, id, scripts);
    },
    act(target: Target) {
      const { id, kind, target: name } = state.begin(...operationOn(target), 'outside');
      const request = kind === 'backup' ? `somebody backs up ${name}` : `a push deploys ${name}`;
      state.note({ by: 'outside', request, began: { id, kind, target: name } });
    },
    setToken: (next: string) => void (token = next),
  };
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 4_096 } });
  // A body is never needed, and an empty one may come as JSON.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  serviceRoutes(app, state, () => token);
  controlRoutes(app, controls);
  const url = await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  return { ...controls, url, close: () => app.close() };
}

function operationOn(target: Target): [Kind, string] {
  return 'site' in target ? ['deployment', target.site] : ['backup', target.server];
}
