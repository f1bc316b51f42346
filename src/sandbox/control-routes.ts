/** The sandbox's own routes, for other processes: scripts, faults, outside actors, the journal. No token. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Controls } from './controls.ts';
import { faultSchema } from './faults.ts';
import { scriptSchema } from './script.ts';

const target = z.union([z.strictObject({ site: z.string() }), z.strictObject({ server: z.string() })]);
const scripts = z.strictObject({ target, scripts: z.array(scriptSchema).min(1) });

export function controlRoutes(app: FastifyInstance, controls: Controls): void {
  app.setErrorHandler((error, _request, reply) => {
    const wrong = error instanceof z.ZodError;
    return reply.code(wrong ? 400 : 500).send({ message: wrong ? z.prettifyError(error) : 'The sandbox failed.' });
  });
  app.post('/sandbox/scripts', async (request, reply) => {
    const { target, scripts: list } = scripts.parse(jsonOf(request.body));
    controls.script(target, ...list);
    return reply.code(204).send();
  });
  app.post('/sandbox/act', async (request, reply) => {
    controls.act(target.parse(jsonOf(request.body)));
    return reply.code(204).send();
  });
  app.post('/sandbox/finish', async (request, reply) => {
    const finish = z.strictObject({ target, word: z.string().min(1) }).parse(jsonOf(request.body));
    controls.finish(finish.target, finish.word);
    return reply.code(204).send();
  });
  app.post('/sandbox/remove', async (request, reply) => {
    controls.remove(target.parse(jsonOf(request.body)));
    return reply.code(204).send();
  });
  app.post('/sandbox/faults', async (request, reply) => {
    controls.fault(...z.array(faultSchema).min(1).parse(jsonOf(request.body)));
    return reply.code(204).send();
  });
  app.post('/sandbox/token', async (request, reply) => {
    controls.setToken(z.strictObject({ token: z.string().min(1) }).parse(jsonOf(request.body)).token);
    return reply.code(204).send();
  });
  app.post('/sandbox/limit', async (request, reply) => {
    const limit = z.strictObject({ perSecond: z.number().int().min(0).nullable() });
    controls.limit(limit.parse(jsonOf(request.body)).perSecond);
    return reply.code(204).send();
  });
  app.get('/sandbox/journal', async () => controls.journal);
}

function jsonOf(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}
