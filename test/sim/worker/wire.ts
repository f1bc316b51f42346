/** The network between a worker and the service: a request arrives, takes effect, and is answered or not. */
import { HostingApiError } from '../../../src/hosting-api/index.ts';
import type { Exchange, RawAnswer, Send } from '../../../src/hosting-api/exchange.ts';
import { ENDPOINTS, answerRequest, type SandboxAnswer, type ApiEndpoint } from '../../../src/sandbox/routes.ts';
import type { State } from '../../../src/sandbox/state.ts';
import type { Clock } from '../clock.ts';
import type { Process } from './process.ts';
import type { Tape } from '../tape.ts';

export interface Service {
  state: State;
  /** While it is down, no connection is made. */
  isUp: boolean;
  /** While it is, whatever stands before it answers 503. */
  isFailing: boolean;
}

/**
 * @param hazard called where the worker may crash or stall
 * @param onPost called when a POST leaves
 */
export function createSend(
  clock: Clock,
  tape: Tape,
  process: Process,
  service: Service,
  hazard: (at: string) => void,
  onPost: () => void,
): Send {
  return async (_options, call, token) => {
    const request = `${call.method} ${call.path}`;
    const fail = (kind: 'network' | 'timeout', reason: string, sent: boolean) =>
      new HostingApiError({ kind, request, reason, sent });
    const what = call.method === 'POST' ? 'POST' : 'read';
    hazard(`${what} to be sent`);
    // The code that sends must end, because it holds timers of the real world.
    const unlessEnded = async <T>(promise: Promise<T>): Promise<T> => {
      const first = await Promise.race([promise, process.whenEnded.then(() => null)]);
      if (process.hasEnded || first === null) throw fail('network', 'the process has ended', true);
      return first;
    };
    await unlessEnded(process.sleep(1 + tape.choose('connect', 20)));
    if (!service.isUp) throw fail('network', 'no connection was made (ECONNREFUSED)', false);
    // As on a real connection: it is looked at once more directly before the first byte.
    if (call.permit !== undefined && call.permit.leftMs() <= 0) throw fail('network', 'no connection was made', false);
    const idempotencyKey = call.headers?.['Idempotency-Key'] ?? null;
    if (call.method === 'POST') onPost();
    const answered = new Promise<RawAnswer | 'broken'>((resolve) => {
      // From here on the request is under way, whatever happens to its sender.
      clock.after(1 + tape.choose('transmit', 30), () => {
        if (!service.isUp) return resolve('broken');
        if (service.isFailing) return resolve(UNAVAILABLE);
        const { endpoint, id } = endpointOf(call);
        const authorization = `Bearer ${token}`;
        const received = { path: call.path, id, authorization, idempotencyKey };
        const { delayMs, answer } = answerRequest(service.state, endpoint, received);
        if (answer === 'none') return;
        clock.after(delayMs + 1 + tape.choose('answer', 30), () =>
          resolve(typeof answer === 'string' ? 'broken' : rawAnswer(answer)),
        );
      });
    });
    hazard(`${what} sent`);
    const answer = await unlessEnded(
      Promise.race([answered, process.sleep(call.timeoutMs).then(() => 'late' as const)]),
    );
    await unlessEnded(process.sleep(0));
    hazard(`${what} answered`);
    if (answer === 'late') throw fail('timeout', `no complete answer within ${call.timeoutMs} ms`, true);
    if (answer === 'broken') throw fail('network', 'the connection broke (ECONNRESET)', true);
    return answer;
  };
}

const UNAVAILABLE: RawAnswer = { status: 503, headers: {}, body: 'down' };

function rawAnswer({ code, body, headers }: SandboxAnswer): RawAnswer {
  return { status: code, headers, body: body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body) };
}

function endpointOf({ method, path }: Exchange): { endpoint: ApiEndpoint; id: string } {
  for (const endpoint of ENDPOINTS) {
    const found = new RegExp(`^${endpoint.path.replace(':id', '([^/]+)')}$`).exec(path);
    if (found !== null && endpoint.method === method) return { endpoint, id: decodeURIComponent(found[1]!) };
  }
  throw new Error(`the service has no ${method} ${path}`);
}
