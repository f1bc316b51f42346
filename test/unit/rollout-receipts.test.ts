/** Receipts of rollouts: what was decided, the hashes of the receipts of their runs, and what a check finds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Yes, rootOf } from '../../src/features/approvals/shapes.ts';
import { emptyRollout } from '../../src/contract/results.ts';
import type { Receipt } from '../../src/features/receipts/shapes.ts';
import type { RolloutInput, TargetResult } from '../../src/features/rollouts/shapes.ts';
import { receiptOfRollout } from '../../src/features/receipts/entries.ts';
import { verifyReceipt } from '../support/verify-receipt.ts';
import { plannedParts } from '../../src/features/approvals/rules.ts';
import { approvalPlan, approvalRule, ASKED_AT, SERVICE, signedYes, signPlan } from '../support/approvals.ts';
import { rolloutOf } from '../support/rollouts.ts';
import { allowedSigners, newSshSigner } from '../support/ssh-signer.ts';

const [ana, bob] = [newSshSigner(), newSshSigner()];
const SIGNERS = allowedSigners({ ana, bob });

const CANARY = { serverId: '12', siteIds: ['34'] };
const REST = { serverId: '13', siteIds: ['35', '36'] };
const input: RolloutInput = rolloutOf([], {
  waves: [
    { name: 'canary', targets: [CANARY] },
    { name: 'rest', targets: [REST] },
  ],
});
const ids = { workflowId: 'rollout:steady:k', runId: '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a11' };

/** @param wave null for all of them */
function planOf(wave: string | null, of = input) {
  const parts = plannedParts(of, wave);
  const deployed = parts.reduce((sum, { targets }) => sum + targets.length, 0);
  return approvalPlan({
    ...{ workflowId: ids.workflowId, executionId: ids.runId, serverId: null, targets: [], wave },
    type: 'rollOut',
    parts: { root: rootOf(parts), servers: parts.length, targets: deployed },
    rules: [approvalRule({ need: 2 })],
  });
}

const runOf = (serverId: string, wave: string, startedAt: string | null): TargetResult => ({
  ...{ serverId, wave, startedAt, endedAt: startedAt },
  outcome: startedAt === null ? 'not_started' : 'completed',
  workflowId: startedAt === null ? null : `backup-then-deploy:${serverId}:steady.k`,
  ...{ backup: null, deployments: [], error: null, heldByEvent: null },
});

const at = (ms: number): string => new Date(Date.parse(ASKED_AT) + ms).toISOString();

interface Made {
  plan: ReturnType<typeof planOf>;
  by: string[];
  rejection: Yes;
  /** When the servers of each wave began. */
  began: Partial<Record<'canary' | 'rest', string>>;
}

function made({ plan = planOf('rest'), by = ['ana', 'bob'], rejection, began = {} }: Partial<Made> = {}): Receipt {
  const { canary = at(-1), rest = null } = began;
  const targets = [runOf('12', 'canary', canary), runOf('13', 'rest', rest)];
  const decisions = [{ at: ASKED_AT, action: 'pause' as const, by: 'gate:errors', reason: 'no data' }];
  const result = emptyRollout({
    ...ids,
    service: SERVICE,
    outcome: 'completed',
    targets,
    decisions,
    startedAt: at(-9),
  });
  const yeses = by.map((name) => signedYes(name === 'ana' ? ana : bob, plan, name));
  const known = {
    ...{ namespace: 'default', input, result },
    answered: [{ plan, yeses, rejection: rejection ?? null }],
    targets: targets.map((it) => ({ ...it, receipt: it.workflowId === null ? null : 'f'.repeat(64) })),
  };
  return JSON.parse(JSON.stringify(receiptOfRollout(ids, known))) as Receipt;
}

function rejectionOf(plan: ReturnType<typeof planOf>): Yes {
  const signature = signPlan(bob, plan, 'bob', { decision: 'reject', why: 'not today' });
  return { by: 'bob', why: 'not today', at: ASKED_AT, proof: { kind: 'ssh', signature } };
}

describe('the receipt of a rollout', () => {
  test('has its decisions, and the hash of the receipt of each run', () => {
    const { entries } = made({ began: { rest: at(1) } });
    assert.deepEqual(
      entries.map(({ what }) => what),
      ['request', 'approval', 'decision', 'run', 'run', 'end'],
    );
    assert.deepEqual(entries[3]?.facts['receipt'], 'f'.repeat(64));
    assert.deepEqual(entries[2]?.facts['by'], 'gate:errors');
  });

  test('is good with the approval of a wave, whatever began before it', () => {
    const { problems, approvals } = verifyReceipt(made({ began: { rest: at(1) } }), SIGNERS);
    assert.deepEqual([problems, approvals.map(({ by }) => by)], [[], ['ana', 'bob']]);
  });

  test('is good with the rejection of a wave that did not begin', () => {
    const receipt = made({ by: ['ana'], rejection: rejectionOf(planOf('rest')) });
    const { problems, rejections } = verifyReceipt(receipt, SIGNERS);
    assert.deepEqual([problems, rejections.map(({ by }) => by)], [[], ['bob']]);
  });

  for (const [what, more, problem] of [
    [
      'a wave that began before its approval',
      { began: { rest: at(-1) } },
      'approval: a run was requested before it was given, or when it was over',
    ],
    [
      'too few approvals of a wave that began',
      { by: ['ana'], began: { rest: at(1) } },
      'approval: it has 1 of 2 approvals (production)',
    ],
    [
      'a wave that began although it was rejected',
      { rejection: rejectionOf(planOf('rest')), began: { rest: at(1) } },
      'rejection: a run was requested all the same',
    ],
    ['a server that began before the approval of all', { plan: planOf(null) }, 'approval: a run was requested before'],
    [
      'the approval of other servers',
      { plan: planOf('rest', { ...input, waves: [{ name: 'rest', targets: [CANARY] }] }) },
      'approval: it is one of another run',
    ],
    [
      'the approval of an earlier attempt',
      { plan: { ...planOf('rest'), executionId: 'an earlier one' } },
      'approval: it is one of another run',
    ],
  ] as [string, Partial<Made>, string][]) {
    test(`is not good with ${what}`, () => {
      const { problems } = verifyReceipt(made(more), SIGNERS);
      assert.equal(problems.length, 1, problems.join());
      assert.ok(problems[0]?.startsWith(problem), problems[0]);
    });
  }
});
