/**
 * Bounds what the receiver does at once, so that strangers cannot exhaust its memory. Never by address: behind a proxy,
 * all senders share one.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface ReceiverBounds {
  connections: number;
  /** Deliveries in progress. Each may be as long as the longest body. */
  bodies: number;
}

/** @returns whether a delivery may be read. If so, it counts until it is answered or gone. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => boolean;

export const MAX_BODY_BYTES = 256 * 1024;

export const BOUNDS: ReceiverBounds = { connections: 1_024, bodies: 256 };

/** Connections beyond the bound get 503, as long as they are not more than this many times the bound. */
const TIMES_ANSWERED = 2;

export function boundReceiver(server: Server, { connections, bodies }: ReceiverBounds): Admit {
  server.maxConnections = connections * TIMES_ANSWERED;
  const open = new Set<Socket>();
  const excess = new WeakSet<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= connections) return void excess.add(socket);
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  let inProgress = 0;

  function admit({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): boolean {
    if (excess.has(socket) || inProgress >= bodies) return false;
    inProgress += 1;
    let isOver = false;
    const end = () => {
      if (!isOver) inProgress -= 1;
      isOver = true;
    };
    response.once('finish', end).once('close', end);
    return true;
  }
  return admit;
}
