/** A codec server decrypts payloads for the Temporal UI and CLI, and encrypts what people enter there. */
import fastify from 'fastify';
import type { FastifyError, FastifyInstance } from 'fastify';
import type { PayloadCodec, Payload } from '@temporalio/common';
import { z } from 'zod';
import { ConfigError, given } from '../config/environment/variables.ts';
import { isSameSecret, listen, openSecret } from '../config/environment/http-server.ts';
import { isLoopback } from '../config/environment/service-url.ts';
import type { Logger } from '../process/log.ts';
import { createKeyRing } from './key-ring.ts';
import { createEncryptingCodec, PayloadError } from './payload-codec.ts';
import { plainText } from '../contract/safe-text.ts';
import { TIMING } from '../contract/timing.ts';

export interface CodecServerStart {
  host: string;
  /** 0 = any free port */
  port: number;
  /** The origin of the Temporal UI. */
  origin?: string;
  tokenFile?: string;
  /** True if a proxy in front asks for credentials. */
  unauthenticated?: boolean;
  log: Logger;
}

/** @throws ConfigError */
export async function startCodecServer(
  options: CodecServerStart,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { host, port, origin, log } = options;
  const path = given('BELAY_CODEC_KEYS_FILE');
  if (path === null) throw new ConfigError('BELAY_CODEC_KEYS_FILE is not set: give the key file of the workers');
  const keys = createKeyRing({ path, warn: (message) => log.warn(message) });
  const token = await tokenOf(options);
  const app = createCodecServer({
    // The server decides nothing by what it reads, and the UI also sends payloads that Temporal itself made.
    codec: createEncryptingCodec(keys, true),
    origin: origin === undefined ? null : checkOrigin(origin),
    token,
    log,
  });
  const url = await listen(app, { host, port });
  return { url, close: () => app.close() };
}

/** Without a token, every caller can decrypt whatever it has in encrypted form. */
async function tokenOf({ host, tokenFile, unauthenticated = false }: CodecServerStart) {
  if (tokenFile !== undefined) return openSecret('--token-file', tokenFile);
  if (isLoopback(host) || unauthenticated) return null;
  const remedy = 'give --token-file, or --unauthenticated behind a proxy that asks for credentials';
  throw new ConfigError(`--host ${host}: beyond loopback, anyone could decrypt: ${remedy}`);
}

/** @throws ConfigError */
function checkOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new ConfigError(`--origin: not an origin: give scheme, host and port only, like https://temporal.example.com`);
}

/* The server itself. */

export interface CodecServerOptions extends Guards {
  codec: PayloadCodec;
  log: Pick<Logger, 'warn'>;
}

/** This is four times the largest message of Temporal, which grows by a third in base64. */
const MAX_BODY_BYTES = 16 * 2 ** 20;

export function createCodecServer({ codec, log, ...guards }: CodecServerOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: TIMING.codecServer.requestMs,
    forceCloseConnections: true,
  });
  app.removeContentTypeParser('text/plain');
  guard(app, guards, log);
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const code = error instanceof PayloadError ? 400 : (error.statusCode ?? 500);
    // An error of a library may quote the body.
    const problem = error instanceof PayloadError || error instanceof ConfigError ? error.message : error.name;
    log.warn({ path: request.url, code, problem }, code < 500 ? 'rejected a request' : 'could not answer a request');
    return reply.code(code).send({ message: code < 500 ? error.message : 'see the log of the codec server' });
  });
  for (const direction of ['encode', 'decode'] as const) {
    app.post(`/${direction}`, async (request, reply) => {
      const body = payloadsSchema.safeParse(request.body);
      if (!body.success) return reply.code(400).send({ message: 'not {"payloads": […]} with bytes in base64' });
      return toJson(await codec[direction](body.data.payloads));
    });
  }
  app.get('/healthz', async () => ({ status: 'ok' }));
  return app;
}

/* Only pages of one origin may use the codec server, and callers with the token if there is one. */

export interface Guards {
  /** The only origin whose pages may call the server, such as `https://temporal.example.com`. Null if no page may. */
  origin: string | null;
  /** Called for every request. Null if no token is required. */
  token: (() => Promise<string>) | null;
}

function guard(app: FastifyInstance, { origin, token }: Guards, log: CodecServerOptions['log']): void {
  app.addHook('onRequest', async (request, reply) => {
    const asking = request.headers.origin;
    if (asking === undefined) return;
    void reply.header('vary', 'origin');
    if (asking !== origin) {
      // The page itself learns nothing: its browser keeps the answer from it.
      log.warn(`rejected a page of ${plainText(asking)}: --origin ${origin === null ? 'is not set' : `is ${origin}`}`);
      return reply.code(403).send({ message: 'pages of this origin may not use this server' });
    }
    // A proxy in front may know the user by a cookie.
    void reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
    if (request.method !== 'OPTIONS') return;
    return reply
      .code(204)
      .header('access-control-allow-methods', 'POST')
      .header('access-control-allow-headers', 'content-type, x-namespace, authorization, authorization-extras')
      .header('access-control-max-age', '600')
      .send();
  });
  app.addHook('onRequest', async (request, reply) => {
    if (token === null || request.url === '/healthz') return;
    if (isSameSecret(request.headers.authorization ?? '', `Bearer ${await token()}`)) return;
    return reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'the token is missing or wrong' });
  });
}

/* The Temporal UI and CLI send payloads as JSON, with bytes in base64. */

const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));

/** Drops fields that Belay does not know. */
const payloadsSchema = z.object({
  payloads: z.array(
    z.object({
      metadata: z.record(z.string(), bytes).default({}),
      data: bytes.default(() => Buffer.alloc(0)),
    }),
  ),
});

export const toJson = (payloads: readonly Payload[]) => ({
  payloads: payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
    data: base64(data ?? new Uint8Array()),
  })),
});

const base64 = (value: Uint8Array): string => Buffer.from(value).toString('base64');
