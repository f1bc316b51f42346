/** How a request is answered, well or badly. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Fault } from './faults.ts';

export interface Answer {
  code: number;
  body: Record<string, unknown>;
}

/** @param truth the answer if all were well; null where the request had no effect */
export async function answerBadly(reply: FastifyReply, fault: Fault, truth: Answer | null): Promise<unknown> {
  const { answer, delayMs } = fault;
  if (delayMs !== undefined) await sleep(delayMs);
  switch (answer.kind) {
    case 'status':
      if (answer.retryAfter !== undefined) reply.header('retry-after', answer.retryAfter);
      return reply.code(answer.code).send({ message: 'The sandbox was told to fail.' });
    case 'body':
      return reply.code(answer.code).type(answer.type).send(answer.text);
    case 'redirect':
      return reply.code(302).header('location', answer.location).send();
    case 'true':
      return reply.code(truth?.code ?? 500).send(truth?.body);
    case 'numeric_id':
      return reply.code(truth?.code ?? 500).send({ ...truth?.body, id: Number(truth?.body.id) });
    default:
      reply.hijack();
      if (answer.kind === 'reset') reply.raw.socket?.resetAndDestroy();
      if (answer.kind === 'cut') {
        reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        reply.raw.write('{"status":"comp', () => reply.raw.socket?.destroy());
      }
      return reply;
  }
}
