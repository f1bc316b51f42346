/** The service of the benchmark as a process of its own. It is controlled over IPC, and ends with its parent. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOperations } from './operations.ts';

export type Ask = { counts: true } | { take: true } | { setDuration: number } | { endAll: string };

/** Longer than the intervals, so that no connection closes while a request is on its way. */
const KEEP_ALIVE_MS = 70_000;

const operations = createOperations(process.env.SERVICE_TOKEN ?? '');

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  const { method = '', url = '', headers } = request;
  request.resume();
  const answer = operations.answer(method, url, headers.authorization, Date.now());
  const body = JSON.stringify(answer.body);
  response
    .writeHead(answer.code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
});

process.on('message', ({ id, ask }: { id: number; ask: Ask }) => process.send!({ id, value: carryOut(ask) }));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));

function carryOut(ask: Ask): unknown {
  if ('counts' in ask) return operations.counts();
  if ('take' in ask) return operations.take();
  if ('endAll' in ask) return operations.endAll(ask.endAll);
  return operations.setDuration(ask.setDuration);
}
