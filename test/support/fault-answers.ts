/** Answers of the sandbox that a test asks for, in place of the true one. */
import type { Fault } from '../../src/sandbox/faults.ts';

type Answered = Pick<Fault, 'answer'>;

export const status = (code: number, retryAfter?: string): Answered => ({
  answer: { kind: 'status', code, ...(retryAfter === undefined ? {} : { retryAfter }) },
});

export const page = (type: string, text: string, code = 200): Answered => ({
  answer: { kind: 'body', code, type, text },
});

export const LOGIN = page('text/html', '<html>log in</html>');

/** Every way a read fails that may pass on the next try. */
export const PASSING_READ_FAILURES: readonly Answered[] = [
  status(408),
  status(429),
  status(500),
  status(503, '1'),
  status(404),
  LOGIN,
  page('application/json', '{"state":"completed"}'),
  { answer: { kind: 'reset' } },
  { answer: { kind: 'cut' } },
];
