/** Sends a reply. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Reply } from './exchange.ts';

export async function sendReply(reply: FastifyReply, { delayMs, answer }: Reply): Promise<unknown> {
  if (delayMs > 0) await sleep(delayMs);
  if (typeof answer === 'object') {
    void reply.code(answer.code).headers(answer.headers);
    return answer.body === null ? reply.send() : reply.send(answer.body);
  }
  reply.hijack();
  if (answer === 'reset') reply.raw.socket?.resetAndDestroy();
  if (answer === 'cut') {
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    reply.raw.write('{"status":"comp', () => reply.raw.socket?.destroy());
  }
  return reply;
}
