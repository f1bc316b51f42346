/** A minimal service, for answers that the sandbox does not give. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';

export interface LiteralService {
  url: string;
  /** `POST /v1/sites/a1/deploy`, in order. */
  requests: string[];
}

export async function literalService(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LiteralService> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
