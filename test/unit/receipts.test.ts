/** Receipts: their entries, the chain of hashes, and what a check without Temporal finds. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllowedSigners } from '../../src/approvals/allowed-signers.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results/empty-results.ts';
import type { Receipt } from '../../src/contract/receipt.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { receiptOf } from '../../src/receipts/chain.ts';
import { entriesOf } from '../../src/receipts/entries.ts';
import { verifyReceipt } from '../../src/receipts/verify.ts';
import { approvalPlan, ASKED_AT, SERVICE, signedYes } from '../support/approvals.ts';
import { allowedSigners, newSshSigner } from '../support/ssh-signer.ts';

const [ana, eve] = [newSshSigner(), newSshSigner()];
const SIGNERS = parseAllowedSigners(allowedSigners({ ana }));
const plan = approvalPlan();
const { workflowId, executionId: runId } = plan;
const site = siteTarget('34');

function made(by = ana): Receipt {
  const result = emptyResult({
    ...{ workflowId, runId, service: SERVICE, outcome: 'completed', startedAt: ASKED_AT, endedAt: ASKED_AT },
    deployments: [{ ...emptyDeployment(site), outcome: 'completed', evidence: 'transition', endedAt: ASKED_AT }],
  });
  const approved = [{ plan, yeses: [signedYes(by, plan, 'ana')] }];
  const post = { at: ASKED_AT, idempotencyKey: `${runId}:1`, answeredAt: ASKED_AT, result: 'accepted' };
  const operation = { id: 'deploy-site:34', approved, baseline: { at: ASKED_AT, status: 'failed' }, posts: [post] };
  const input = { serverId: '12', siteIds: ['34'] };
  const known = { namespace: 'default', type: 'backupThenDeploy', input, result, operations: [operation] };
  return sent(receiptOf({ workflowId, runId }, entriesOf({ workflowId, runId }, known)));
}

const sent = <T>(document: T): T => JSON.parse(JSON.stringify(document)) as T;

describe('a receipt', () => {
  test('has its parts in the order in which they happened', () => {
    const { entries } = made();
    assert.deepEqual(
      entries.map(({ what }) => what),
      ['request', 'approval', 'baseline', 'post', 'deployment', 'end'],
    );
  });

  test('is good as it was made, and names who approved with which key', () => {
    const { problems, approvals } = verifyReceipt(made(), SIGNERS);
    assert.deepEqual(problems, []);
    assert.equal(approvals[0]?.by, 'ana');
    assert.match(approvals[0]?.proof ?? '', /^SHA256:/);
    assert.match(verifyReceipt(made(), null).approvals[0]?.proof ?? '', /, a key that the receipt names$/);
  });

  test('is not good with an approval by a key that is not that of a signer', () => {
    assert.match(verifyReceipt(made(eve), SIGNERS).problems.join(), /is not in the file of signers/);
  });

  test('is not good if any value in it was changed', () => {
    const original = made();
    const paths = leavesOf(original).filter(([first]) => first !== 'schemaVersion');
    assert.ok(paths.length > 60, String(paths.length));
    for (const path of paths) {
      const changed = sent(original);
      change(changed, path);
      assert.notDeepEqual(verifyReceipt(changed, SIGNERS).problems, [], path.join('.'));
    }
  });

  test('is not good if an entry was removed, or two change places', () => {
    for (let index = 0; index < made().entries.length; index += 1) {
      const shorter = made();
      shorter.entries.splice(index, 1);
      assert.notDeepEqual(verifyReceipt(shorter, SIGNERS).problems, [], `without ${index}`);
    }
    const turned = made();
    turned.entries.reverse();
    assert.notDeepEqual(verifyReceipt(turned, SIGNERS).problems, []);
  });

  test('is not good with the approval of another run, although its chain was made again', () => {
    const { entries } = made();
    const other = { workflowId: 'backup-then-deploy:12:release-8', runId };
    const [request, ...rest] = entries;
    const again = receiptOf(other, [{ ...request!, facts: { ...request!.facts, ...other } }, ...rest]);
    assert.deepEqual(verifyReceipt(sent(again), SIGNERS).problems, ['approval: it is one of another run']);
  });

  for (const nothing of [null, 'text', [], {}, { kind: 'belay-receipt' }]) {
    test(`is not ${JSON.stringify(nothing)}`, () => {
      assert.deepEqual(verifyReceipt(nothing, null).problems, ['it is not a receipt of Belay']);
    });
  }
});

type Path = (string | number)[];

/** The places of all values that are neither lists nor objects. */
function leavesOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...at, key]));
}

function change(document: unknown, path: Path): void {
  const holder = path.slice(0, -1).reduce((inner, key) => (inner as Record<string, unknown>)[key], document);
  const last = path.at(-1) ?? '';
  const fields = holder as Record<string, unknown>;
  fields[last] = typeof fields[last] === 'number' ? Number(fields[last]) + 1 : `${String(fields[last])}x`;
}
