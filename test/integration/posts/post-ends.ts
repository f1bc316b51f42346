import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { BackupResult, DeploymentResult, RunResult, TriggerReport } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/hosting/faults.ts';
import { began, posts } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { replayAll } from '../../support/replay.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { fresh, startWorld, TOKEN, workerLog, type World } from '../../support/world.ts';

const PACE = { intervalMs: 2_000, tries: 30 };

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: COMPLETED } });
});

type Post = Pick<Fault, 'answer' | 'effect' | 'delayMs' | 'times'>;

interface Expected {
  outcome: string;
  type: string | null;
  trigger: TriggerReport;
  /** So many operations began at the service. */
  effects: number;
  message?: RegExp;
}

/** The POST of a site ends so; over a failed deployment, so that a completed one leaves a trace for good. */
async function deploy(faults: Post[], expected: Expected, more: object = {}): Promise<void> {
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'deploy', target: siteId })));
  const run = await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, ...more } });
  const result = await resultOf(run);
  assertEnd(result, result.deployments[0]!, expected, {
    effects: began(world.sandbox, 'deployment', siteId).length,
    sent: posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length,
  });
}

async function backUp(faults: Post[], expected: Expected): Promise<void> {
  const serverId = fresh('s');
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'create-backup', target: serverId })));
  const result = await resultOf(await world.belay.start({ serverId, siteIds: [], backup: PACE }));
  assertEnd(result, result.backup!, expected, {
    effects: began(world.sandbox, 'backup', serverId).length,
    sent: posts(world.sandbox, `/v1/servers/${serverId}/backups`).length,
  });
}

function assertEnd(
  result: RunResult,
  part: BackupResult | DeploymentResult,
  expected: Expected,
  seen: { effects: number; sent: number },
): void {
  const { outcome, error } = result;
  const { message = /^/, ...end } = expected;
  assert.equal(part.outcome, outcome);
  const seenEnd = { outcome, type: error?.type ?? null, trigger: part.trigger, effects: seen.effects };
  assert.deepEqual(seenEnd, end, error?.message);
  assert.match(error?.message ?? '', message);
  assert.equal(seen.sent, part.trigger.attempts);
}

const DONE = { outcome: 'completed', type: null, effects: 1 };
const ACCEPTED: Expected = { ...DONE, trigger: { attempts: 1, ambiguous: false, reconciledBy: null } };
const TURNED_AWAY: Expected = { ...DONE, trigger: { attempts: 2, ambiguous: false, reconciledBy: null } };
const FOUND: Expected = { ...DONE, trigger: { attempts: 1, ambiguous: true, reconciledBy: 'changed' } };
const RESENT: Expected = { ...DONE, trigger: { attempts: 2, ambiguous: true, reconciledBy: 'resent' } };
const REFUSED: Expected = {
  outcome: 'not_started',
  type: 'Refused',
  effects: 0,
  trigger: { attempts: 1, ambiguous: false, reconciledBy: null },
};
const TWICE = { outcome: 'unknown', type: 'OutcomeUnknown', trigger: { ...RESENT.trigger, reconciledBy: null } };
const UNSENT: Expected = {
  ...TWICE,
  effects: 0,
  trigger: { ...TWICE.trigger, attempts: 1 },
  message: /left no trace/,
};

const status = (code: number, retryAfter?: string): Post => ({
  answer: { kind: 'status', code, ...(retryAfter === undefined ? {} : { retryAfter }) },
});
const page = (type: string, text: string, code = 200): Post => ({ answer: { kind: 'body', code, type, text } });
const LOGIN = page('text/html', '<html>log in</html>');
const REDIRECT: Post = { answer: { kind: 'redirect', location: '/v1/sites/elsewhere/deployments/latest' } };

/** After these nobody can tell whether there was an effect. */
const AMBIGUOUS: [what: string, post: Post][] = [
  ['without any answer', { answer: { kind: 'none' } }],
  ['answered 500', status(500)],
  ['answered 502 with an error that repeats the token', page('application/json', `{"message":"${TOKEN}"}`, 502)],
  ['answered 503 without Retry-After', status(503)],
  ['answered 408', status(408)],
  ['answered with HTML and 200', LOGIN],
  ['answered with a redirect', REDIRECT],
  ['answered with a body cut short', { answer: { kind: 'cut' } }],
  ['whose connection is reset', { answer: { kind: 'reset' } }],
];
const FINAL: [what: string, post: Post][] = [
  ['answered 400', status(400)],
  ['answered 401', status(401)],
  ['answered 403', status(403)],
  ['answered 404', status(404)],
  ['answered 422', status(422)],
];
/** Without effect, or in somebody's way: waited out. */
const PASSING: [what: string, post: Post][] = [
  ['answered 429', status(429)],
  ['answered 429 with Retry-After', status(429, '2')],
  ['answered 503 with Retry-After', status(503, '2')],
  ['answered 409', status(409)],
  ['answered 423', status(423)],
];

// Each test has sites and servers of its own, and most of them wait: they run at once, those that wait longest first.
describe('the end of a POST', { concurrency: 24 }, () => {
  test('a deployment POST that is ambiguous twice and leaves no trace: unknown, and no third request', () =>
    deploy([{ ...status(500), times: 2 }], { ...TWICE, effects: 0, message: /sent twice/ }));
  for (const [what, post] of AMBIGUOUS) {
    test(`a deployment POST ${what}, without effect: sent once more after the settle time, one deployment`, () =>
      deploy([post], RESENT));
  }
  for (const [what, post] of AMBIGUOUS) {
    test(`a backup POST ${what}, with its effect: another backup is made, and the first is a spare`, () =>
      backUp([{ ...post, effect: true }], { ...RESENT, effects: 2 }));
    test(`a backup POST ${what}, without effect: another backup is made`, () => backUp([post], RESENT));
    test(`a deployment POST ${what}, with its effect: found by its trace, one deployment, and completed`, () =>
      deploy([{ ...post, effect: true }], FOUND));
  }

  test('a backup POST that is ambiguous twice: unknown, and no third request', () =>
    backUp([{ ...status(500), effect: true, times: 2 }], { ...TWICE, effects: 2 }));
  test('an ambiguous deployment POST that is not to be sent again: unknown', () =>
    deploy([status(500)], UNSENT, { onAmbiguous: 'stop' }));
  test('a deployment POST refused after an ambiguous one: unknown, never not started', () =>
    deploy([status(500), status(403)], {
      ...TWICE,
      effects: 0,
      message: /earlier request may have had an effect.*403/,
    }));
  test('a backup POST refused after an ambiguous one: unknown, never not started', () =>
    backUp([status(500), status(403)], {
      ...TWICE,
      effects: 0,
      message: /earlier request may have had an effect.*403/,
    }));
  test('a backup answered without an id: another backup is made, and the first is a spare', () =>
    backUp([{ ...page('application/json', '{}', 201), effect: true }], { ...RESENT, effects: 2 }));

  for (const [what, post] of FINAL) {
    test(`a deployment POST ${what}: not started, and not repeated`, () => deploy([post], REFUSED));
    test(`a backup POST ${what}: not started, and not repeated`, () => backUp([post], REFUSED));
  }
  for (const [what, post] of PASSING) {
    test(`a deployment POST ${what}: sent again, one deployment`, () => deploy([post], TURNED_AWAY));
    test(`a backup POST ${what}: sent again, one backup`, () => backUp([post], TURNED_AWAY));
  }

  const FIVE = { ...REFUSED, trigger: { ...REFUSED.trigger, attempts: 5 } };
  test('a deployment POST turned away five times: not started', () => deploy([{ ...status(429), times: 9 }], FIVE));
  test('a backup POST turned away five times: not started', () => backUp([{ ...status(429), times: 9 }], FIVE));
  test('a Retry-After beyond the budget of a deployment: not started', () => deploy([status(429, '3600')], REFUSED));
  test('a Retry-After beyond the budget of a backup: not started', () => backUp([status(503, '3600')], REFUSED));
  const BUSY = { ...REFUSED, type: 'Busy' };
  test('a conflict that does not end in time: Busy, nothing triggered', () =>
    deploy([{ ...status(409), times: 9 }], BUSY, { baselineWaitMs: 100 }));

  test('a slow answer to a deployment POST is an answer', () =>
    deploy([{ answer: { kind: 'true' }, delayMs: 4_000 }], ACCEPTED));
  test('a slow answer to a backup POST is an answer', () =>
    backUp([{ answer: { kind: 'true' }, delayMs: 4_000 }], ACCEPTED));
  test('an empty answer to a deployment POST is an answer', () =>
    deploy([{ ...page('text/plain', ''), effect: true }], ACCEPTED));
  test('a backup id that comes as a number is taken as its digits', () =>
    backUp([{ answer: { kind: 'numeric_id' } }], ACCEPTED));
});

test('no redirect of these was followed', () => {
  assert.ok(!world.sandbox.journal.some(({ request }) => request.includes('elsewhere')));
});

test('the token is in no history, log or error of these tests', async () => {
  const texts = { ...(await allHistories(world.client)), 'worker log': workerLog(), 'results and errors': SAID.join() };
  assertNowhere(TOKEN, texts, '[token]');
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 50);
});
