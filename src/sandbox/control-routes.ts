/** Routes under /sandbox that let other processes control it: scripts, faults, other users, webhooks, journal. No token. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { NothingBegun, type Controls } from './controls.ts';
import { deliveryFaultSchema } from './delivery/delivery-faults.ts';
import { faultSchema } from './hosting/faults.ts';
import { scriptSchema } from './hosting/script.ts';
import { subscriptionSchema } from './delivery/subscriptions.ts';

const target = z.union([
  z.strictObject({ site: z.string() }),
  z.strictObject({ app: z.string() }),
  z.strictObject({ server: z.string() }),
]);
const scripts = z.strictObject({ target, scripts: z.array(scriptSchema).min(1) });
const finish = z.strictObject({ target, word: z.string().min(1) });
const token = z.strictObject({ token: z.string().min(1) });
const limit = z.strictObject({ perSecond: z.number().int().min(0).nullable() });
const alert = z.strictObject({ server: z.string(), message: z.string() });

export function controlRoutes(app: FastifyInstance, controls: Controls): void {
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof NothingBegun) return reply.code(409).send({ message: error.message });
    const invalid = error instanceof z.ZodError;
    return reply.code(invalid ? 400 : 500).send({ message: invalid ? z.prettifyError(error) : 'The sandbox failed.' });
  });
  const add = <S extends z.ZodType>(name: string, schema: S, act: (body: z.infer<S>) => void) =>
    app.post(`/sandbox/${name}`, async (request, reply) => {
      act(schema.parse(jsonOf(request.body)));
      return reply.code(204).send();
    });
  add('scripts', scripts, (body) => controls.script(body.target, ...body.scripts));
  add('act', target, (body) => controls.act(body));
  add('finish', finish, (body) => controls.finish(body.target, body.word));
  add('remove', target, (body) => controls.remove(body));
  add('faults', z.array(faultSchema).min(1), (body) => controls.fault(...body));
  add('token', token, (body) => controls.setToken(body.token));
  add('limit', limit, (body) => controls.limit(body.perSecond));
  add('subscriptions', subscriptionSchema, (body) => controls.subscribe(body));
  add('delivery-faults', z.array(deliveryFaultSchema).min(1), (body) => controls.faultDeliveries(...body));
  add('alert', alert, (body) => controls.alert(body));
  app.get('/sandbox/deliveries', async () => controls.deliveries);
  app.get('/sandbox/journal', async () => controls.journal);
}

function jsonOf(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}
