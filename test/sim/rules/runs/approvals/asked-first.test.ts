/** A run that has to be approved: it asks first, holds nothing while it waits, and goes on by itself. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../../../src/contract/ids.ts';
import { QUERIES } from '../../../../../src/contract/names.ts';
import type { Explanation } from '../../../../../src/contract/waiting.ts';
import { allowedSigners, newSshSigner } from '../../../../support/ssh-signer.ts';
import { approvalPlan, approvalRule, approvedFor } from '../../../../support/approvals.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { phasesOf } from '../../../stack/inspect.ts';
import { freezeNow, unreadable } from '../../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../../stack/stack.ts';
import { deployPosts } from '../runs-that-wait.ts';
import { backupPosts, verdictOf } from '../verdict-of.ts';
import {
  ANA,
  answer,
  asking,
  AUDIT_ONLY,
  BOB,
  EVE,
  isAsking,
  signedAnswer,
  SIGNERS_FILE,
  startAsking,
  type AskingRun,
} from './answers.ts';

const HOUR = 3_600_000;

const sent = (stack: VirtualStack, { serverId, siteId }: AskingRun) => [
  backupPosts(stack, serverId),
  deployPosts(stack, siteId),
];

test(
  'the time after which a run deploys nothing is part of what people approve',
  inVirtualTime(async (stack) => {
    const deploysUntil = { time: '06:00', timeZone: 'Europe/Berlin' };
    const [bound, free] = [startAsking(stack, { deploysUntil }), startAsking(stack)];
    const [{ plan }, { plan: other }] = [await isAsking(stack, bound.run), await isAsking(stack, free.run)];
    const untilOf = ({ options }: typeof plan) => (options as { deploysUntil?: object }).deploysUntil;
    assert.deepEqual([untilOf(plan), untilOf(other)], [deploysUntil, undefined]);
    for (const { run } of [bound, free]) stack.cancel(run);
  }, asking()),
);

describe('a run that has to be approved', () => {
  test(
    'asks before its backup and holds nothing, goes on once it is approved, and reports by whom and with which key',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack);
      const question = await isAsking(stack, asked.run);
      await stack.forward(10 * HOUR);
      assert.deepEqual(sent(stack, asked), [0, 0]);
      for (const lockId of [backupServerId(asked.serverId), deploySiteId(asked.siteId)])
        assert.equal(stack.world.server.find(lockId), undefined);
      assert.equal(
        await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana', { why: 'ship it' })),
        null,
      );
      const result = await stack.result(asked.run);
      assert.deepEqual(verdictOf(result), ['completed', undefined]);
      assert.deepEqual(sent(stack, asked), [1, 1]);
      const [{ from = '', to = '', proof = '', ...held } = {}, ...others] = result.held;
      assert.deepEqual(others, []);
      assert.deepEqual(held, { for: 'approval', name: 'production', end: 'approved', by: 'ana', why: 'ship it' });
      assert.match(proof, /^SHA256:/);
      assert.ok(Date.parse(to ?? '') - Date.parse(from) >= 10 * HOUR);
      const phases = phasesOf(asked.run).map(({ phase }) => phase);
      assert.deepEqual(phases, ['approval', 'checking', 'backup', 'deploy', 'done']);
    }, asking()),
  );

  test(
    'tells what it waits for, and the command that approves it',
    inVirtualTime(
      async (stack) => {
        const { run } = startAsking(stack);
        const { hash, plan, until } = await isAsking(stack, run);
        assert.equal(plan.executionId, run.runId);
        const { sentence, waiting } = await stack.query<Explanation>(run.workflowId, QUERIES.why);
        assert.equal(
          sentence,
          `waits for 2 approvals (production) until ${until}: \`belay approve ${run.workflowId} --plan ${hash.slice(0, 12)}\``,
        );
        assert.equal(waiting?.kind, 'approval');
        await answer(stack, run, 'approve', signedAnswer(ANA, { plan, hash }, 'ana'));
        const then = await stack.query<Explanation>(run.workflowId, QUERIES.why);
        assert.match(then.sentence, /^waits for 1 more of 2 approvals \(production\) until /);
        const page = await stack.query<{ currentDetails: string }>(run.workflowId, '__temporal_workflow_metadata');
        assert.match(page.currentDetails, /\*\*approval\*\*: waits for 1 more of 2 approvals/);
        stack.cancel(run);
        await stack.result(run);
      },
      asking({ need: 2 }),
    ),
  );

  test(
    'goes on only once enough different people have approved',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack);
        const question = await isAsking(stack, asked.run);
        const second = newSshSigner();
        const files = stack.world.files;
        files.set(SIGNERS_FILE, allowedSigners({ ana: ANA, bob: BOB }) + allowedSigners({ ana: second }));
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        const again = await answer(stack, asked.run, 'approve', signedAnswer(second, question, 'ana'));
        assert.equal(again, 'Usage: ana has approved already: another person must approve');
        await stack.forward(HOUR);
        assert.deepEqual(sent(stack, asked), [0, 0]);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(BOB, question, 'bob')), null);
        const result = await stack.result(asked.run);
        assert.deepEqual([verdictOf(result)[0], result.held[0]?.by], ['completed', 'ana, bob']);
      },
      asking({ need: 2 }),
    ),
  );

  test(
    'does not go on with two names of one key',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack);
        const question = await isAsking(stack, asked.run);
        stack.world.files.set(SIGNERS_FILE, `ana,release ${ANA.publicKey}\nbob ${BOB.publicKey}\n`);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        const again = await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'release'));
        assert.match(again ?? '', /^Usage: SHA256:\S+ has approved already: another person has to, with another key$/);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(BOB, question, 'bob')), null);
        const result = await stack.result(asked.run);
        assert.deepEqual([verdictOf(result)[0], result.held[0]?.by], ['completed', 'ana, bob']);
      },
      asking({ need: 2 }),
    ),
  );

  test(
    'ends ApprovalRejected after one rejection, whatever was approved, and names who rejected it and why',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack);
        const question = await isAsking(stack, asked.run);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        const no = signedAnswer(BOB, question, 'bob', { decision: 'reject', why: 'not on a Friday' });
        assert.equal(await answer(stack, asked.run, 'reject', no), null);
        const result = await stack.result(asked.run);
        assert.deepEqual(verdictOf(result), ['not_started', 'ApprovalRejected']);
        assert.equal(result.error?.message, 'rejected by bob: not on a Friday');
        const [{ end, by, why } = {}] = result.held;
        assert.deepEqual([end, by, why, ...sent(stack, asked)], ['rejected', 'bob', 'not on a Friday', 0, 0]);
      },
      asking({ need: 2 }),
    ),
  );

  test(
    'ends ApprovalExpired once its question has been open for too long',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack);
        const question = await isAsking(stack, asked.run);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        const result = await stack.result(asked.run);
        assert.deepEqual(verdictOf(result), ['not_started', 'ApprovalExpired']);
        assert.equal(result.error?.message, 'it was not approved in time, 1 of 2 (production): start it again');
        assert.deepEqual([result.held[0]?.end, ...sent(stack, asked)], ['gave_up', 0, 0]);
        assert.equal(result.endedAt?.slice(0, 16), question.until.slice(0, 16));
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(BOB, question, 'bob')), 'it has ended');
      },
      asking({ need: 2, expiry: 6 * HOUR }),
    ),
  );

  test(
    'ends ApprovalExpired, before its backup, if one of its approvals is over when the last one is given',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack, { approval: 'extra' });
        const question = await isAsking(stack, asked.run);
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        await stack.forward(2 * HOUR);
        const free = { plan: question.hash, by: 'carl', why: null, proof: { kind: 'none' } };
        assert.equal(await answer(stack, asked.run, 'approve', free), null);
        const result = await stack.result(asked.run);
        assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'ApprovalExpired', 0, 0]);
      },
      asking({ goodFor: HOUR }, { extra: { proof: 'none', from: ['carl'], for: { sites: ['nowhere'] } } }),
    ),
  );

  test(
    'ends TooLate if it could be deployed no more once it is approved',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack, { startDeploysWithinMs: HOUR });
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'TooLate', 0, 0]);
    }, asking()),
  );

  test(
    'ends at once if it is cancelled, and requests nothing',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack);
      await isAsking(stack, asked.run);
      stack.cancel(asked.run);
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'Cancelled', 0, 0]);
      assert.deepEqual([result.deployments[0]?.outcome, result.held[0]?.end], ['not_started', 'cancelled']);
    }, asking()),
  );

  test(
    'asks for what its policy asks for and for what it names, all at once',
    inVirtualTime(
      async (stack) => {
        const asked = startAsking(stack, { approval: 'extra' });
        const question = await isAsking(stack, asked.run);
        assert.deepEqual(
          question.asked.map(({ name }) => name),
          ['production', 'extra'],
        );
        assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        await stack.forward(HOUR);
        assert.deepEqual(sent(stack, asked), [0, 0]);
        const free = { plan: question.hash, by: 'carl', why: null, proof: { kind: 'none' } };
        assert.equal(await answer(stack, asked.run, 'approve', free), null);
        const result = await stack.result(asked.run);
        assert.deepEqual(verdictOf(result), ['completed', undefined]);
        assert.deepEqual(
          result.held.map(({ name, by }) => [name, by]),
          [
            ['production', 'ana'],
            ['extra', 'carl'],
          ],
        );
      },
      asking({}, { extra: { proof: 'none', from: ['carl'], for: { sites: ['nowhere'] } } }),
    ),
  );

  test(
    'is not begun if it names an approval that its worker does not have',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack, { approval: 'staging' });
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'Refused', 0, 0]);
      assert.match(result.error?.message ?? '', /has no approval "staging": correct --approval/);
    }),
  );

  test(
    'is not begun if its worker cannot read the signers',
    inVirtualTime(async (stack) => {
      stack.world.files.clear();
      const result = await stack.result(startAsking(stack).run);
      assert.deepEqual(verdictOf(result), ['not_started', 'Refused']);
      assert.match(
        result.error?.message ?? '',
        /approvals\.production\.signers: \/etc\/belay\/allowed_signers cannot be/,
      );
    }, asking()),
  );

  test(
    'is not begun if no worker can tell in time who may approve it',
    inVirtualTime(async (stack) => {
      // A file on a share that hangs.
      stack.world.files.get = () => new Promise(() => {}) as unknown as string;
      const asked = startAsking(stack);
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'Refused', 0, 0]);
    }, asking()),
  );

  test(
    'begins once another worker, or the same one later, can read the signers',
    inVirtualTime(async (stack) => {
      const signers = stack.world.files.get(SIGNERS_FILE) ?? '';
      stack.world.files.clear();
      const asked = startAsking(stack);
      await stack.forward(5_000);
      stack.world.files.set(SIGNERS_FILE, signers);
      const question = await isAsking(stack, asked.run);
      assert.equal(await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana')), null);
      assert.deepEqual(verdictOf(await stack.result(asked.run)), ['completed', undefined]);
    }, asking()),
  );

  test(
    'is refused after some minutes with what was approved by a name that no worker has',
    inVirtualTime(async (stack) => {
      const approved = [approvedFor(approvalPlan({ rules: [approvalRule({ name: 'renamed' })] }), [])];
      const result = await stack.result(startAsking(stack, { approved }).run);
      assert.deepEqual(verdictOf(result), ['not_started', 'Refused']);
      assert.match(
        result.error?.message ?? '',
        /no worker could check the request: .*belay\.yaml has no approval renamed/,
      );
    }, asking()),
  );

  test(
    'replaces an older one only once it is approved',
    inVirtualTime(async (stack) => {
      const older = startAsking(stack);
      const first = await isAsking(stack, older.run);
      const newer = stack.start({ serverId: older.serverId, siteIds: [older.siteId], supersede: true });
      const question = await isAsking(stack, newer);
      await stack.forward(HOUR);
      assert.equal((await isAsking(stack, older.run)).hash, first.hash);
      assert.equal(await answer(stack, newer, 'approve', signedAnswer(ANA, question, 'ana')), null);
      assert.deepEqual(verdictOf(await stack.result(older.run)), ['not_started', 'Superseded']);
      assert.equal((await stack.result(newer)).outcome, 'completed');
    }, asking()),
  );

  test(
    'replaces nothing if it was reset while it asked',
    inVirtualTime(async (stack) => {
      const older = startAsking(stack);
      const first = await isAsking(stack, older.run);
      assert.equal(await answer(stack, older.run, 'approve', signedAnswer(ANA, first, 'ana')), null);
      await stack.until('its backup', () => sent(stack, older)[0] === 1);
      const newer = stack.start({ serverId: older.serverId, siteIds: [older.siteId], supersede: true });
      const { plan } = await isAsking(stack, newer);
      newer.firstRunId = 'the execution that was reset';
      stack.world.endWorkers();
      stack.world.addWorker();
      await answer(stack, newer, 'approve', signedAnswer(EVE, { plan, hash: 'another' }, 'eve'));
      assert.equal((await stack.result(older.run)).outcome, 'completed');
      assert.deepEqual(verdictOf(await stack.result(newer)), ['unknown', 'OutcomeUnknown']);
    }, asking()),
  );

  test(
    'has a history that grows with its sites, and not with their square',
    inVirtualTime(async (stack) => {
      const bytesOf = async (count: number) => {
        const siteIds = Array.from({ length: count }, () => siteAfter(stack.sandbox, FAILED, COMPLETED));
        const run = stack.start({ serverId: fresh('s'), siteIds });
        const question = await isAsking(stack, run);
        assert.equal(await answer(stack, run, 'approve', signedAnswer(ANA, question, 'ana')), null);
        assert.equal((await stack.result(run)).outcome, 'completed');
        return JSON.stringify(run.history).length;
      };
      const ratio = (await bytesOf(60)) / (await bytesOf(30));
      assert.ok(ratio < 2.05, `60 sites take ${ratio.toFixed(2)} times the bytes of 30`);
    }, asking()),
  );

  test(
    'that only makes a backup, or only watches, is asked for nothing',
    inVirtualTime(async (stack) => {
      const { serverId, siteId } = startAsking(stack);
      const backup = await stack.result(stack.start({ serverId: `${serverId}x` }));
      const watch = await stack.result(stack.start({ siteIds: [siteId] }, { type: 'watchDeployment' }));
      assert.deepEqual([backup.outcome, backup.held, watch.held], ['completed', [], []]);
    }, asking()),
  );

  test(
    'without a proof says that nothing is proven',
    inVirtualTime(async (stack) => {
      const { run } = startAsking(stack);
      const { hash } = await isAsking(stack, run);
      const { sentence } = await stack.query<Explanation>(run.workflowId, QUERIES.why);
      assert.match(sentence, /^waits for 1 approval \(production, audit only\) until/);
      const given = { plan: hash.slice(0, 12), by: 'ana', why: null, proof: { kind: 'none' } };
      assert.equal(await answer(stack, run, 'approve', given), null);
      const result = await stack.result(run);
      assert.deepEqual([result.outcome, result.held[0]?.proof], ['completed', 'audit only, not proven']);
    }, AUDIT_ONLY),
  );

  test(
    'judges freezes again once it is approved',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack);
      const question = await isAsking(stack, asked.run);
      freezeNow(stack.world.server, { forMs: 2 * HOUR });
      await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana'));
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'Frozen', 0, 0]);
    }, asking()),
  );

  test(
    'can be cancelled while no worker can read a freeze, and then sends nothing',
    inVirtualTime(async (stack) => {
      const asked = startAsking(stack);
      const question = await isAsking(stack, asked.run);
      unreadable(freezeNow(stack.world.server, { forMs: 2 * HOUR }));
      await answer(stack, asked.run, 'approve', signedAnswer(ANA, question, 'ana'));
      await stack.forward(60_000);
      stack.cancel(asked.run);
      const result = await stack.result(asked.run);
      assert.deepEqual([...verdictOf(result), ...sent(stack, asked)], ['not_started', 'Cancelled', 0, 0]);
    }, asking()),
  );
});
