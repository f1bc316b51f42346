/** What the workflows do after every way a POST can end. How real connections end is in test/integration/runs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DAY_MS } from '../../../../src/contract/duration.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { QUERIES, type Outcome } from '../../../../src/contract/names.ts';
import type { RunResult } from '../../../../src/contract/run.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import { page, status } from '../../../support/fault-answers.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, posts } from '../../../support/journal.ts';
import {
  ACCEPTED,
  assertEnd,
  FOUND,
  REFUSED,
  RESENT,
  TURNED_AWAY,
  unclearEnds,
  type Expected,
  type Post,
} from '../../../support/post-ends.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import { TOKEN } from '../../world.ts';

/** Sends a site's POST into these faults. Its last deployment failed, so a completed one leaves a lasting trace. */
const deploy = (faults: Post[], expected: Expected, more: object = {}) =>
  inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
    const siteId = siteAfter(sandbox, FAILED, COMPLETED);
    sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'deploy', target: siteId })));
    const result = await resultOf(start({ siteIds: [siteId], deploy: more }));
    assertWithoutToken(result);
    assertEnd(result, result.deployments[0]!, expected, {
      effects: began(sandbox, 'deployment', siteId).length,
      sent: posts(sandbox, `/v1/sites/${siteId}/deploy`).length,
    });
  });

/** Accepts the request, and forgets it. */
const beginNothing = (more: object, outcome: Outcome) =>
  inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
    const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
    sandbox.fault({ ...page('application/json', '{"success":false}', 200), route: 'deploy', target: siteId });
    const [deployment] = (await resultOf(start({ siteIds: [siteId], deploy: more }))).deployments;
    assert.deepEqual([deployment?.outcome, deployment?.evidence], [outcome, 'settled']);
    assert.equal(began(sandbox, 'deployment', siteId).length, 0);
  });

const backUp = (faults: Post[], expected: Expected) =>
  inVirtualTime(
    async ({ sandbox, start, result: resultOf }) => {
      const serverId = fresh('s');
      sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route: 'create-backup', target: serverId })));
      const result = await resultOf(start({ serverId, siteIds: [] }));
      assertWithoutToken(result);
      assertEnd(result, result.backup!, expected, {
        effects: began(sandbox, 'backup', serverId).length,
        sent: posts(sandbox, `/v1/servers/${serverId}/backups`).length,
      });
    },
    { defaults: { backup: COMPLETED } },
  );

const assertWithoutToken = (result: RunResult) => assert.ok(!JSON.stringify(result).includes(TOKEN));

const TWICE = { outcome: 'unknown', type: 'OutcomeUnknown', trigger: { ...RESENT.trigger, reconciledBy: null } };
const UNSENT: Expected = {
  ...TWICE,
  effects: 0,
  trigger: { ...TWICE.trigger, attempts: 1 },
  message: /left no trace/,
};

const THRICE: Expected = {
  ...TWICE,
  effects: 0,
  trigger: { ...TWICE.trigger, attempts: 3 },
  message: /earlier request may have had an effect.*403/,
};

/** Answers that leave it open whether the POST had an effect. */
const AMBIGUOUS: [what: string, post: Post][] = [
  ...unclearEnds(TOKEN),
  ['answered 500', status(500)],
  ['answered 503 without Retry-After', status(503)],
  ['answered 408', status(408)],
];
const FINAL: [what: string, post: Post][] = [
  ['answered 400', status(400)],
  ['answered 404', status(404)],
  ['answered 404 without JSON', page('text/html', '<h1>Not Found</h1>', 404)],
  ['answered 422', status(422)],
];
/** Rejections without effect, and conflicts: Belay waits and sends again. */
const PASSING: [what: string, post: Post][] = [
  ['answered 429', status(429)],
  ['answered 429 with Retry-After', status(429, '2')],
  ['answered 503 with Retry-After', status(503, '2')],
  ['answered 409', status(409)],
  ['answered 423', status(423)],
];

describe('how a POST ends', () => {
  test(
    'a deployment POST that is ambiguous twice and leaves no trace ends unknown, without a third request',
    deploy([{ ...status(500), times: 2 }], { ...TWICE, effects: 0, message: /sent twice/ }),
  );
  for (const [what, post] of AMBIGUOUS) {
    test(
      `a deployment POST ${what} is sent once more after the settle time if it had no effect`,
      deploy([post], RESENT),
    );
  }
  for (const [what, post] of AMBIGUOUS) {
    test(
      `a backup POST ${what} leads to another backup, with the first as a spare, if it took effect`,
      backUp([{ ...post, effect: true }], { ...RESENT, effects: 2 }),
    );
    test(`a backup POST ${what} leads to another backup if it had no effect`, backUp([post], RESENT));
    test(
      `a deployment POST ${what} is found by its trace and not repeated if it took effect`,
      deploy([{ ...post, effect: true }], FOUND),
    );
  }

  test(
    'a backup POST that is ambiguous twice ends unknown, without a third request',
    backUp([{ ...status(500), effect: true, times: 2 }], { ...TWICE, effects: 2 }),
  );
  test(
    'an ambiguous deployment POST that must not be sent again ends unknown',
    deploy([status(500)], UNSENT, { onAmbiguous: 'stop' }),
  );
  test(
    'a deployment POST refused after an ambiguous one ends unknown, never not started',
    deploy([status(500), { ...status(403), times: 2 }], THRICE),
  );
  test(
    'a backup POST refused after an ambiguous one ends unknown, never not started',
    backUp([status(500), { ...status(403), times: 2 }], THRICE),
  );
  test(
    'a backup POST answered without an id leads to another backup, with the first as a spare',
    backUp([{ ...page('application/json', '{}', 201), effect: true }], { ...RESENT, effects: 2 }),
  );

  test(
    'a deployment POST answered 2xx that begins nothing, after a completed one, settles as that',
    beginNothing({}, 'completed'),
  );
  test(
    'a deployment POST answered 2xx that begins nothing, after a completed one, is unknown if a transition is asked for',
    beginNothing({ minEvidence: 'transition' }, 'unknown'),
  );

  for (const [what, post] of FINAL) {
    test(`a deployment POST ${what} ends not started and is not repeated`, deploy([post], REFUSED));
    test(`a backup POST ${what} ends not started and is not repeated`, backUp([post], REFUSED));
  }
  for (const [what, post] of PASSING) {
    test(`a deployment POST ${what} is sent again and deploys once`, deploy([post], TURNED_AWAY));
    test(`a backup POST ${what} is sent again and makes one backup`, backUp([post], TURNED_AWAY));
  }

  const REFUSED_TWICE = { ...REFUSED, trigger: { ...REFUSED.trigger, attempts: 2 } };
  for (const code of [401, 403]) {
    const twice = { ...status(code), times: 2 };
    test(`a deployment POST answered ${code} is made once more and deploys once`, deploy([status(code)], TURNED_AWAY));
    test(`a backup POST answered ${code} is made once more and makes one backup`, backUp([status(code)], TURNED_AWAY));
    test(`a deployment POST answered ${code} twice ends not started`, deploy([twice], REFUSED_TWICE));
    test(`a backup POST answered ${code} twice ends not started`, backUp([twice], REFUSED_TWICE));
  }

  const FIVE = { ...REFUSED, trigger: { ...REFUSED.trigger, attempts: 5 } };
  test('a deployment POST rejected five times ends not started', deploy([{ ...status(429), times: 9 }], FIVE));
  test('a backup POST rejected five times ends not started', backUp([{ ...status(429), times: 9 }], FIVE));
  test('a Retry-After beyond the deployment budget ends not started', deploy([status(429, '3600')], REFUSED));
  test('a Retry-After beyond the backup budget ends not started', backUp([status(503, '3600')], REFUSED));
  const BUSY = { ...REFUSED, type: 'Busy' };
  test(
    'a conflict that does not end in time ends Busy and triggers nothing',
    deploy([{ ...status(409), times: 9 }], BUSY, { baselineWaitMs: 100 }),
  );

  test(
    'a run whose request was refused says why, and when it is sent again',
    inVirtualTime(async ({ sandbox, start, until, forward, query, result: resultOf }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault({ ...status(409), route: 'deploy', target: siteId });
      const run = start({ siteIds: [siteId] });
      await until('the refusal', () => posts(sandbox, `/v1/sites/${siteId}/deploy`).length === 1);
      await forward(1_000);
      const { sentence, waiting } = await query<Explanation>(deploySiteId(siteId), QUERIES.why);
      assert.ok(waiting?.kind === 'request', sentence);
      assert.match(waiting.reason, /: 409 /);
      assert.match(sentence, /the request is sent again at .*; the last one ended with ".*: 409 /);
      assert.equal((await resultOf(run)).outcome, 'completed');
    }),
  );

  test(
    'conflicts that ask to come back at once are not sent again at once, and fill no history',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault({ ...status(409, '0'), times: 500, route: 'deploy', target: siteId });
      const { error } = await resultOf(start({ siteIds: [siteId], deploy: { baselineWaitMs: 30_000 } }));
      assert.equal(error?.type, 'Busy');
      assert.ok(posts(sandbox, `/v1/sites/${siteId}/deploy`).length <= 30);
    }),
  );

  for (const code of [409, 423])
    test(
      `a deployment POST in doubt is not sent a third time after a second one was answered ${code}`,
      inVirtualTime(async ({ sandbox, start, result }) => {
        // The replicas lag for longer than the settle time.
        const siteId = siteAfter(sandbox, COMPLETED, { durationMs: 30_000, lagMs: 60_000 }, COMPLETED);
        const fault = { route: 'deploy', target: siteId } as const;
        sandbox.fault({ ...fault, effect: true, answer: { kind: 'reset' } }, { ...fault, ...status(code) });
        const deploy = { intervalMs: 1_000, settleMs: 10_000, tries: 60 };
        const ended = await result(start({ siteIds: [siteId], deploy }));
        assert.equal(verdictLine(ended), 'unknown by OutcomeUnknown');
        assert.match(
          ended.error?.message ?? '',
          /refused another request because of an operation in progress, which may/,
        );
        assert.equal(began(sandbox, 'deployment', siteId).length, 1);
      }),
    );

  test(
    'a backup POST in doubt that took effect meets conflicts while its backup is made, and is sent again once that has ended',
    backUp(
      [
        { ...status(500), effect: true },
        { ...status(409), times: 9 },
      ],
      {
        ...ACCEPTED,
        trigger: { ...RESENT.trigger, attempts: 11 },
        effects: 2,
      },
    ),
  );

  test(
    'a backup POST in doubt that meets conflicts for longer than a backup may take ends unknown',
    inVirtualTime(async ({ sandbox, start, result: resultOf }) => {
      const serverId = fresh('s');
      const fault = { route: 'create-backup', target: serverId } as const;
      sandbox.fault({ ...fault, ...status(500) }, { ...fault, ...status(409), times: 500 });
      const { outcome, error } = await resultOf(start({ serverId, siteIds: [] }));
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(error!.message, /earlier request may have had an effect/);
      assert.ok(posts(sandbox, `/v1/servers/${serverId}/backups`).length > 5);
    }),
  );

  test(
    'an ambiguous deployment POST with a settle time of a month ends unknown before its history is full',
    inVirtualTime(async ({ sandbox, start, result: resultOf, world }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault({ ...status(500), route: 'deploy', target: siteId });
      const run = start({ siteIds: [siteId], deploy: { intervalMs: 1_000, settleMs: 30 * DAY_MS } });
      const { outcome, error } = await resultOf(run);
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(error!.message, /history of the operation is too long/);
      assert.ok(world.clock.nowMs - run.startedMs < DAY_MS);
    }),
  );

  test(
    'a slow answer to a deployment POST is accepted',
    deploy([{ answer: { kind: 'true' }, delayMs: TIMING.post.answerMs / 2 }], ACCEPTED),
  );
  test(
    'a slow answer to a backup POST is accepted',
    backUp([{ answer: { kind: 'true' }, delayMs: TIMING.post.answerMs / 2 }], ACCEPTED),
  );
  test(
    'an empty answer to a deployment POST is accepted',
    deploy([{ ...page('text/plain', ''), effect: true }], ACCEPTED),
  );
  test(
    'a numeric backup id is accepted and read as its decimal digits',
    backUp([{ answer: { kind: 'numeric_id' } }], ACCEPTED),
  );
});
