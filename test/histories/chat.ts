/** What is notified and measured: it stands in for a chat, for Prometheus, for the page of a gate and for GitHub. */
import { createServer, type ServerResponse } from 'node:http';
import { atEnd } from '../support/at-end.ts';

/** The paths of the page of a gate, and of a heartbeat that puts off the first call of each state. */
export const [PAGE_PATH, PUT_OFF_PATH] = ['/smoke', '/put-off'];

/** Of GitHub, which puts off its first call as well. */
const REPOSITORIES = '/repos/';

export interface Chat {
  readonly origin: string;
  /** What Prometheus says from now on where a query contains this word; null for nothing. Default: 0. */
  measure(word: string, value: string | null): void;
}

export async function startChat(): Promise<Chat> {
  const measured = new Map<string, string | null>();
  const putOff = new Set<string>();
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '');
    request.resume().on('end', () => {
      if (url.startsWith('/api/v1/query')) return void response.end(vectorOf(valueFor(measured, url)));
      if (url === PAGE_PATH) return void response.end(JSON.stringify({ ok: true, rate: 0.2 }));
      const isPutOff = url.startsWith(PUT_OFF_PATH) || url.startsWith(REPOSITORIES);
      if (!isPutOff || putOff.has(url)) return void response.end('{}');
      putOff.add(url);
      comeBackLater(response, url);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  return {
    origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    measure: (word, value) => void measured.set(word, value),
  };
}

function valueFor(measured: ReadonlyMap<string, string | null>, url: string): string | null {
  const [, value] = [...measured].find(([word]) => url.includes(word)) ?? ['', '0'];
  return value;
}

/** GitHub does not say when. */
function comeBackLater(response: ServerResponse, url: string): void {
  response.writeHead(503, url.startsWith(PUT_OFF_PATH) ? { 'retry-after': '1' } : {}).end();
}

function vectorOf(value: string | null): string {
  const result = value === null ? [] : [{ metric: {}, value: [0, value] }];
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}
