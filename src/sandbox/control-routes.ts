/**
 * Routes under /sandbox with which other processes control it: scripts, faults, other users, webhooks, journal. They
 * need no token.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { NothingBegun, type Controls } from './controls.ts';
import { subscriptionSchema } from './deliveries.ts';
import { deliveryFaultSchema, faultSchema } from './faults.ts';
import { scriptSchema } from './script.ts';

export function controlRoutes(app: FastifyInstance, controls: Controls): void {
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof NothingBegun) return reply.code(409).send({ message: error.message });
    const isBad = error instanceof BadControl;
    return reply.code(isBad ? 400 : 500).send({ message: isBad ? error.message : 'The sandbox failed.' });
  });
  app.addHook('onRequest', async (request, reply) => {
    // Compare the route, because the path as it was sent may have encoded letters, which the router decodes.
    if (request.routeOptions.url?.startsWith('/sandbox/') !== true) return;
    // Without a token, any page that the user of this machine opens could send requests from here.
    if (request.headers.origin !== undefined)
      return reply.code(403).send({ message: 'a web page must not control the sandbox: send no Origin header' });
    if (request.method === 'POST' && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? ''))
      return reply
        .code(415)
        .send({ message: 'send the body as JSON, with the header "Content-Type: application/json"' });
  });
  const add = <N extends ControlName>(name: N, act: (body: ControlBody<N>) => void) =>
    app.post(`/sandbox/${name}`, async (request, reply) => {
      act(controlBody(name, String(request.body)));
      return reply.code(204).send();
    });
  add('scripts', (body) => controls.script(body.target, ...body.scripts));
  add('act', (body) => controls.act(body));
  add('finish', (body) => controls.finish(body.target, body.word));
  add('remove', (body) => controls.remove(body));
  add('faults', (body) => controls.fault(...body));
  add('limit', (body) => controls.limit(body.perSecond));
  add('token', (body) => controls.setToken(body.token));
  add('subscriptions', (body) => controls.subscribe(body));
  add('delivery-faults', (body) => controls.faultDeliveries(...body));
  add('alert', (body) => controls.alert(body));
  app.get('/sandbox/deliveries', async () => controls.deliveries);
  app.get('/sandbox/journal', async () => controls.journal);
}

const target = z.union([
  z.strictObject({ site: z.string() }),
  z.strictObject({ app: z.string() }),
  z.strictObject({ server: z.string() }),
]);

export const CONTROL_BODIES = {
  scripts: z.strictObject({ target, scripts: z.array(scriptSchema).min(1) }),
  act: target,
  finish: z.strictObject({ target, word: z.string().min(1) }),
  remove: target,
  faults: z.array(faultSchema).min(1),
  limit: z.strictObject({ perSecond: z.number().int().min(0).nullable() }),
  token: z.strictObject({ token: z.string().min(1) }),
  subscriptions: subscriptionSchema,
  'delivery-faults': z.array(deliveryFaultSchema).min(1),
  alert: z.strictObject({ server: z.string(), message: z.string() }),
};

export type ControlName = keyof typeof CONTROL_BODIES;
type ControlBody<N extends ControlName> = z.infer<(typeof CONTROL_BODIES)[N]>;

class BadControl extends Error {}

/** @throws BadControl */
function controlBody<N extends ControlName>(name: N, text: string): ControlBody<N> {
  const refuse = (problem: string) => new BadControl(`${problem}; /sandbox/${name} takes ${formOf(name)}`);
  const body = jsonOf(text);
  if (body === undefined) throw refuse('the body is not JSON');
  const parsed = CONTROL_BODIES[name].safeParse(body);
  if (parsed.success) return parsed.data as ControlBody<N>;
  throw refuse(z.prettifyError(parsed.error));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Describes each key that a control knows, as in `{target: {site} or {app}, scripts: [{durationMs?}]}`. */
export const formOf = (name: ControlName): string => textOf(z.toJSONSchema(CONTROL_BODIES[name]));

type Form = z.core.JSONSchema.BaseSchema;

function textOf({ anyOf, oneOf = anyOf, properties, required = [], items }: Form): string {
  if (oneOf !== undefined)
    return oneOf
      .map((it) => textOf(it))
      .filter(Boolean)
      .join(' or ');
  if (items !== undefined) return `[${textOf(items as Form)}]`;
  if (properties === undefined) return '';
  const keys = Object.entries(properties).map(([key, form]) => {
    const value = valueOf(form as Form);
    return `${key}${required.includes(key) ? '' : '?'}${value === '' ? '' : `: ${value}`}`;
  });
  return `{${keys.join(', ')}}`;
}

function valueOf(form: Form): string {
  const words = form.const === undefined ? form.enum : [form.const];
  return words === undefined ? textOf(form) : words.map((word) => JSON.stringify(word)).join(' or ');
}
