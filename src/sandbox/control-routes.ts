/** Routes under /sandbox that let other processes control it: scripts, faults, other users, webhooks, journal. No token. */
import type { FastifyInstance } from 'fastify';
import { BadControl, controlBody, type ControlBody, type ControlName } from './control-bodies.ts';
import { NothingBegun, type Controls } from './controls.ts';

export function controlRoutes(app: FastifyInstance, controls: Controls): void {
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof NothingBegun) return reply.code(409).send({ message: error.message });
    const isBad = error instanceof BadControl;
    return reply.code(isBad ? 400 : 500).send({ message: isBad ? error.message : 'The sandbox failed.' });
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/sandbox/')) return;
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
