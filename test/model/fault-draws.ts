/** Draws faults, except lies: 200 without an effect, 4xx with one, or 404 for an existing resource. */
import fc from 'fast-check';
import type { Fault } from '../../src/sandbox/faults.ts';
import { between, SERVERS, TARGETS } from './chance.ts';

type Answer = Fault['answer'];

const status = (...codes: number[]) => fc.constantFrom(...codes).map((code): Answer => ({ kind: 'status', code }));
const waiting = (...codes: number[]) =>
  fc
    .tuple(fc.constantFrom(...codes), fc.constantFrom('0', '1', '2', '60', 'soon'))
    .map(([code, retryAfter]): Answer => ({ kind: 'status', code, retryAfter }));
const rubbish = fc.constantFrom<Answer[]>(
  { kind: 'body', code: 200, type: 'text/html', text: '<h1>Maintenance</h1>' },
  { kind: 'body', code: 200, type: 'application/json', text: '{"status":' },
  { kind: 'redirect', location: '/elsewhere' },
  { kind: 'cut' },
  { kind: 'reset' },
);
const none = fc.constant<Answer>({ kind: 'none' });
const truth = fc.constantFrom<Answer[]>({ kind: 'true' }, { kind: 'numeric_id' });

type Wrong = Pick<Fault, 'answer' | 'effect' | 'delayMs'>;

/** The client times out after 8 s for a trigger and after 3.5 s for a read. */
const wrongTrigger: fc.Arbitrary<Wrong> = fc.oneof(
  fc.record({ answer: fc.oneof(status(500, 502, 503, 504, 408), rubbish, rubbish), effect: fc.boolean() }),
  fc.record({ answer: none, effect: fc.boolean() }),
  fc.record({ answer: fc.oneof(status(500), rubbish), effect: fc.boolean(), delayMs: between(100, 9_000) }),
  fc.record({ answer: truth, delayMs: fc.oneof(between(50, 3_000), between(50, 3_000), between(8_500, 9_500)) }),
  fc.record({ answer: fc.oneof(status(429), waiting(429), waiting(503)), effect: fc.constant(false) }),
  fc.record({ answer: fc.oneof(status(409, 423), waiting(409, 423)), effect: fc.constant(false) }),
  fc.record({ answer: status(400, 401, 403, 422), effect: fc.constant(false) }),
);

const wrongRead: fc.Arbitrary<Wrong & Pick<Fault, 'times'>> = fc.oneof(
  fc.record({ answer: fc.oneof(status(500, 502, 429, 408), waiting(429, 503)), times: between(1, 5) }),
  fc.record({ answer: rubbish, times: between(1, 5) }),
  fc.record({ answer: fc.oneof(rubbish, status(500, 502)), times: between(9, 12) }),
  fc.record({ answer: status(401, 403), times: between(1, 8) }),
  fc.record({ answer: none, times: between(1, 2) }),
  fc.record({ answer: truth, delayMs: fc.oneof(between(50, 2_000), between(3_600, 4_500)), times: between(1, 3) }),
);

/** Mostly at the target and server that most runs use. */
function at(ofTargets: 'deploy' | 'latest', ofServers: 'create-backup' | 'backup') {
  const target = fc.record({ route: fc.constant(ofTargets), target: fc.constantFrom('a1', ...TARGETS) });
  const server = fc.record({ route: fc.constant(ofServers), target: fc.constantFrom('s1', ...SERVERS) });
  return fc.oneof({ weight: 3, arbitrary: target }, { weight: 1, arbitrary: server });
}

export const triggerFault: fc.Arbitrary<Fault> = fc
  .tuple(at('deploy', 'create-backup'), wrongTrigger, fc.constantFrom(0, 0, 1), fc.constantFrom(1, 1, 2))
  .map(([place, wrong, skip, times]) => ({ ...place, ...wrong, skip, times }));

export const readFault: fc.Arbitrary<Fault> = fc
  .tuple(at('latest', 'backup'), wrongRead, fc.oneof(between(0, 3), between(0, 15)))
  .map(([place, wrong, skip]) => ({ ...place, ...wrong, skip }));
