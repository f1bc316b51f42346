/** A service of literal bytes, and the errors of the client that asks it. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { createHostingApiClient, type HostingApiClient } from '../../src/hosting-api/client.ts';
import { HostingApiError } from '../../src/hosting-api/errors.ts';
import { HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { atEnd } from './at-end.ts';

export const TOKEN = 'canary-77aa';

/** A service that answers with literal bytes and records the bytes it received. */
export async function rawService(
  answer: string | ((socket: Socket) => void),
  token = TOKEN,
): Promise<{ client: HostingApiClient; baseUrl: string; sent: () => string }> {
  let sent = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      sent += data.toString();
      if (!sent.endsWith('\r\n\r\n')) return;
      if (typeof answer === 'string') socket.end(answer);
      else answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    client: createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, token: () => Promise.resolve(token) }),
    sent: () => sent,
  };
}

export const http = (status: string, body: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export async function errorOf(promise: Promise<unknown>): Promise<HostingApiError> {
  return promise.then(
    () => assert.fail('the request was answered'),
    (error: unknown) => {
      assert.ok(error instanceof HostingApiError, String(error));
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(TOKEN), 'the token is in the error');
      return error;
    },
  );
}

export const site = (id: string) => ({ kind: 'site' as const, id });
