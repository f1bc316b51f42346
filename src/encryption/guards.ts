/** Who may use the codec server: pages of one origin, and callers with the token if there is one. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

export interface Guards {
  /** The only origin whose pages may call it, like `https://temporal.example.com`; null: no page may. */
  origin: string | null;
  /** Read for every request; null: no token is asked for. */
  token: (() => Promise<string>) | null;
}

export function guard(app: FastifyInstance, { origin, token }: Guards): void {
  app.addHook('onRequest', async (request, reply) => {
    const asking = request.headers.origin;
    if (asking === undefined) return;
    void reply.header('vary', 'origin');
    if (asking !== origin) return reply.code(403).send({ message: 'pages of this origin may not use this server' });
    // A proxy in front may know the user by a cookie.
    void reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
    if (request.method !== 'OPTIONS') return;
    return reply
      .code(204)
      .header('access-control-allow-methods', 'POST')
      .header('access-control-allow-headers', 'content-type, x-namespace, authorization')
      .header('access-control-max-age', '600')
      .send();
  });
  app.addHook('onRequest', async (request, reply) => {
    if (token === null || request.url === '/healthz') return;
    if (isEqual(request.headers.authorization ?? '', `Bearer ${await token()}`)) return;
    return reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'the token is missing or wrong' });
  });
}

/** Takes the same time wherever the texts differ. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
