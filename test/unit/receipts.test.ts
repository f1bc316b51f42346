/** Receipts: their entries, the chain of hashes, and what a check without Temporal finds. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Client } from '@temporalio/client';
import { ApplicationFailure, DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { encodeErrorToFailure } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { answersBy } from '../../src/features/approvals/actions-receipts.ts';
import { decodedFailure } from '../../src/client/decode-payloads.ts';
import { type ApprovalRule, type Approved, type Yes, treeOf } from '../../src/features/approvals/shapes.ts';
import type { Held } from '../../src/features/freezes/shapes.ts';
import { backupServerId, lockIdOf, runWorkflowId } from '../../src/contract/ids.ts';
import { emptyBackup, emptyDeployment, emptyResult, NO_TRIGGER } from '../../src/contract/results.ts';
import type { Receipt } from '../../src/features/receipts/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { receiptOf, receiptOfRun, type SentPost } from '../../src/features/receipts/entries.ts';
import { receipt, receiptFileName } from '../../src/features/receipts/actions.ts';
import { verifyReceipt } from '../support/verify-receipt.ts';
import { HOUR_MS } from '../../src/contract/duration.ts';
import { approvalPlan, approvalRule, ASKED_AT, SERVICE, signedYes, signPlan } from '../support/approvals.ts';
import { allowedSigners, newSshSigner } from '../support/ssh-signer.ts';
import { tempFolder } from '../support/temporal.ts';

const [ana, bob, eve] = [newSshSigner(), newSshSigner(), newSshSigner()];
const SIGNERS = allowedSigners({ ana, bob, release: ana });
const plan = approvalPlan();
const { workflowId, executionId: runId } = plan;

/** How a receipt differs from one of a run that one person approved, and that deployed what was approved. */
interface Made {
  by: typeof ana;
  approved: Approved;
  rejection: Yes;
  namespace: string;
  postedAt: string;
  siteId: string;
  /** Who decided, as it is told of what held the run back. */
  heldBy: string;
  /** Whether its request was in doubt. */
  isInDoubt: boolean;
  /** The requests that followed it. */
  posts: SentPost[];
  /** Whether Temporal had deleted its operation. */
  isDeleted: boolean;
  /** The last step that it requested something for. */
  reached: 'nothing' | 'backup' | 'deployment';
}

function made(more: Partial<Made> = {}): Receipt {
  const { by = ana, namespace = 'default', postedAt = ASKED_AT, siteId = '34', reached = 'deployment' } = more;
  const site = siteTarget(siteId);
  const held = more.heldBy === undefined ? [] : [{ ...HELD, by: more.heldBy }];
  const isInDoubt = more.isInDoubt ?? false;
  const trigger = { ...NO_TRIGGER, attempts: 1, ambiguous: isInDoubt };
  const result = emptyResult({
    held,
    ...{ workflowId, runId, service: SERVICE, outcome: 'completed', startedAt: ASKED_AT, endedAt: ASKED_AT },
    backup: reached === 'backup' ? { ...emptyBackup('12'), trigger } : null,
    deployments: [
      {
        ...emptyDeployment(site),
        ...(reached === 'deployment' ? { trigger, acceptedAt: postedAt } : {}),
        outcome: 'completed',
        evidence: 'transition',
        endedAt: ASKED_AT,
      },
    ],
  });
  const approved = more.approved ?? { plan, yeses: [signedYes(by, plan, 'ana')] };
  const post = {
    at: postedAt,
    idempotencyKey: `${runId}:1`,
    answeredAt: ASKED_AT,
    result: isInDoubt ? 'the worker was lost' : 'accepted',
  };
  const id = reached === 'backup' ? backupServerId('12') : lockIdOf(site);
  const operation =
    more.isDeleted === true
      ? { id, baseline: null, posts: [], missing: 'its requests' }
      : { id, baseline: { at: ASKED_AT, status: 'failed' }, posts: [post, ...(more.posts ?? [])] };
  const input = { serverId: '12', siteIds: ['34', '35'] };
  const known = {
    ...{ namespace, type: 'backupThenDeploy', input, result },
    answered: [{ ...approved, rejection: more.rejection ?? null }],
    operations: reached === 'nothing' ? [] : [operation],
  };
  return sent(receiptOfRun({ workflowId, runId }, known));
}

const HELD: Held = {
  ...{
    for: 'approval',
    name: 'production',
    from: ASKED_AT,
    to: ASKED_AT,
    end: 'approved',
    by: null,
    why: 'looked at it',
  },
};

const AT_ANOTHER_TIME = 'a deployment was requested before it was given, or when it was over';

const rejectionOf = (of = plan): Yes => {
  const signature = signPlan(bob, of, 'bob', { decision: 'reject', why: 'not today' });
  return { by: 'bob', why: 'not today', at: ASKED_AT, proof: { kind: 'ssh', signature } };
};

const oneOfTwo = (): Approved => {
  const asked = approvalPlan({ rules: [approvalRule({ need: 2 })] });
  return { plan: asked, yeses: [signedYes(ana, asked, 'ana')] };
};

const rejected = (more: Partial<Made> = {}): Partial<Made> => {
  const approved = oneOfTwo();
  return { approved, rejection: rejectionOf(approved.plan), reached: 'nothing', ...more };
};

const before = (ms: number): string => new Date(Date.parse(ASKED_AT) - ms).toISOString();

/** One person, two signatures. @param name that the second one gives */
function twice(rule: Partial<ApprovalRule>, name = 'ana'): Approved {
  const asked = approvalPlan({ rules: [approvalRule(rule)] });
  return { plan: asked, yeses: [signedYes(ana, asked, 'ana'), signedYes(ana, asked, name)] };
}

/** @param serverId of the part that the run was given @param approvedId of the part that was approved */
function ofRollout(serverId: string, approvedId = serverId): Approved {
  const targets = [siteTarget('34')];
  const parts = [
    { serverId: approvedId, targets },
    { serverId: '77', targets },
  ];
  const { root, pathTo } = treeOf(parts);
  const of = { root, servers: 2, targets: 2 };
  const asked = approvalPlan({ workflowId: 'rollout:r:k', type: 'rollOut', serverId: null, parts: of });
  return { plan: asked, yeses: [signedYes(ana, asked, 'ana')], part: { serverId, targets, path: pathTo(0) } };
}

/** @param siteIds that are said to be what was approved: no signature covers them */
const widened = (...siteIds: string[]): Approved => ({
  ...{ plan, yeses: [signedYes(ana, plan, 'ana')] },
  part: { serverId: '12', targets: siteIds.map((id) => siteTarget(id)), path: [] },
});

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
    assert.match(verifyReceipt(made({ by: eve }), SIGNERS).problems.join(), /is not in the file of signers/);
  });

  test('is not good if any value in it was changed', () => {
    for (const original of [made(), made(rejected())]) {
      const paths = leavesOf(original).filter(([first]) => first !== 'schemaVersion');
      assert.ok(paths.length > 60, String(paths.length));
      for (const path of paths) {
        const changed = sent(original);
        change(changed, path);
        assert.notDeepEqual(verifyReceipt(changed, SIGNERS).problems, [], path.join('.'));
      }
    }
  });

  test('is not good if an entry was removed, or two change places', () => {
    for (let index = 0; index < made().entries.length; index += 1) {
      const shorter = made();
      shorter.entries.splice(index, 1);
      assert.notDeepEqual(verifyReceipt(shorter, SIGNERS).problems, [], `without ${index}`);
    }
    const cut = made();
    cut.entries.pop();
    cut.hash = cut.entries.at(-1)!.hash;
    assert.deepEqual(verifyReceipt(cut, SIGNERS).problems, [
      'entries: the last one is not the end, so entries were removed',
    ]);
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

  for (const [what, more, problem] of [
    ['of another namespace', { namespace: 'other' }, 'it is one of another run'],
    ['that does not contain its site', { siteId: '99' }, 'it does not contain everything that was deployed'],
    ['that was given after its request', { postedAt: before(1) }, AT_ANOTHER_TIME],
    ['that was over at its request', { postedAt: before(-12 * HOUR_MS) }, AT_ANOTHER_TIME],
    [
      'that nobody signed, of a rule that wants signatures',
      { approved: { plan, yeses: [{ by: 'ana', why: null, at: ASKED_AT, proof: { kind: 'none' } }] } },
      'no signer proves the answer of ana: audit only, not proven',
    ],
    ['of too few people', { approved: twice({ need: 2 }) }, 'it has 1 of 2 approvals (production)'],
    ['of two names with one key', { approved: twice({ need: 2 }, 'release') }, 'it has 1 of 2 approvals (production)'],
    ['by people who were not asked', { approved: twice({ from: ['bob'] }) }, 'it has 0 of 1 approvals (production)'],
    [
      'with targets that it did not contain',
      { siteId: '99', approved: widened('34', '99') },
      'it is one of another run',
    ],
    ['of a rollout, for another server', { approved: ofRollout('13') }, 'it is one of another run'],
    ['of a rollout that has no such part', { approved: ofRollout('12', '13') }, 'it is one of another run'],
  ] as [string, Partial<Made>, string][]) {
    test(`is not good with an approval ${what}`, () => {
      assert.deepEqual(verifyReceipt(made(more), SIGNERS).problems, [`approval: ${problem}`]);
    });
  }

  test('shows an approval although the run reached no site', () => {
    for (const reached of ['nothing', 'backup'] as const) {
      const { problems, approvals } = verifyReceipt(made({ reached }), SIGNERS);
      assert.deepEqual([problems, approvals.map(({ by }) => by)], [[], ['ana']], reached);
    }
  });

  test('is good without the requests of an operation that Temporal had deleted, if they were approved in time', () => {
    assert.deepEqual(verifyReceipt(made({ isDeleted: true }), SIGNERS).problems, []);
    const late = made({ isDeleted: true, postedAt: new Date(Date.parse(ASKED_AT) + 1_000 * HOUR_MS).toISOString() });
    assert.deepEqual(verifyReceipt(late, SIGNERS).problems, [`approval: ${AT_ANOTHER_TIME}`]);
  });

  test('shows who rejected the run and who had approved it, each with the key', () => {
    const receipt = made(rejected());
    assert.deepEqual(
      receipt.entries.map(({ what }) => what),
      ['request', 'approval', 'rejection', 'deployment', 'end'],
    );
    const { approvals, rejections, problems } = verifyReceipt(receipt, SIGNERS);
    assert.deepEqual([problems, approvals[0]?.by, rejections[0]?.by], [[], 'ana', 'bob']);
    assert.match(rejections[0]?.proof ?? '', /^SHA256:/);
  });

  test('shows a rejection that no approval came before', () => {
    const { plan: asked } = oneOfTwo();
    const receipt = made(rejected({ approved: { plan: asked, yeses: [] } }));
    const { approvals, rejections, problems } = verifyReceipt(receipt, SIGNERS);
    assert.deepEqual([problems, approvals, rejections.length], [[], [], 1]);
  });

  for (const [what, more, problems] of [
    [
      'although something was requested',
      { reached: 'backup', approved: { plan, yeses: [signedYes(ana, plan, 'ana')] }, rejection: rejectionOf() },
      ['rejection: a backup was requested all the same'],
    ],
    [
      'although something was requested, by an operation that Temporal had deleted',
      {
        ...{ reached: 'deployment', isDeleted: true, rejection: rejectionOf() },
        approved: { plan, yeses: [signedYes(ana, plan, 'ana')] },
      },
      ['rejection: a deployment was requested all the same'],
    ],
    [
      'of another plan',
      { rejection: rejectionOf(plan) },
      ['rejection: the signature is not one of this text: sign exactly what is asked'],
    ],
    [
      'whose signature approves',
      { rejection: { ...rejectionOf(), proof: signedYes(bob, oneOfTwo().plan, 'bob').proof } },
      ['rejection: the signature is not one of this text: sign exactly what is asked'],
    ],
    [
      'of another namespace',
      { namespace: 'other' },
      ['approval', 'rejection'].map((it) => `${it}: it is one of another run`),
    ],
  ] as [string, Partial<Made>, string[]][]) {
    test(`is not good with a rejection ${what}`, () => {
      assert.deepEqual(verifyReceipt(made(rejected(more)), SIGNERS).problems, problems);
    });
  }

  test('without signers is not good either with an answer that is not of the kind of its rule', () => {
    for (const proof of [{ kind: 'none' }, { kind: 'github', token: 'verified when it was given' }] as const) {
      const yeses: Yes[] = [{ by: 'ana', why: null, at: ASKED_AT, proof }];
      const { problems } = verifyReceipt(made({ approved: { plan, yeses } }), null);
      assert.deepEqual(problems, ['approval: it has 0 of 1 approvals (production)'], proof.kind);
    }
  });

  test('with signers is not good with a token of GitHub, which none of them proves, but is without signers', () => {
    const asked = approvalPlan({ rules: [approvalRule({ proof: 'github' })] });
    const yes: Yes = { by: 'ana', why: null, at: ASKED_AT, proof: { kind: 'github', token: 'verified before' } };
    const receipt = made({ approved: { plan: asked, yeses: [yes] } });
    assert.deepEqual(verifyReceipt(receipt, null).problems, []);
    assert.match(verifyReceipt(receipt, SIGNERS).problems.join(), /^approval: no signer proves the answer of ana: /);
  });

  test('is not good if an approval that it tells of is gone, although its chain was made again', () => {
    const { entries } = made({ heldBy: 'ana' });
    assert.deepEqual(verifyReceipt(made({ heldBy: 'ana' }), SIGNERS).problems, []);
    const without = receiptOf(
      { workflowId, runId },
      entries.filter(({ what }) => what !== 'approval'),
    );
    assert.deepEqual(verifyReceipt(sent(without), SIGNERS).problems, [
      'held: it was approved by ana, but the receipt has no such answer',
    ]);
    assert.notDeepEqual(verifyReceipt(made({ heldBy: 'bob' }), SIGNERS).problems, []);
  });

  test('is good if the name of who approved it has a comma', () => {
    const asked = approvalPlan({ rules: [approvalRule({ proof: 'none', need: 2 })] });
    const yeses = ['Lee, Ana', 'Bob'].map((by): Yes => ({ by, why: null, at: ASKED_AT, proof: { kind: 'none' } }));
    const approved = { plan: asked, yeses };
    assert.deepEqual(verifyReceipt(made({ approved, heldBy: 'Lee, Ana, Bob' }), null).problems, []);
    for (const heldBy of ['Lee', 'Lee, Ana, Bob, Eve', 'Bob, Lee, Ana, Lee'])
      assert.notDeepEqual(verifyReceipt(made({ approved, heldBy }), null).problems, [], heldBy);
  });

  test('is good if the name of one who approved it begins the name of another', () => {
    const asked = approvalPlan({ rules: [approvalRule({ proof: 'none', need: 2 })] });
    const names = ['Lee', 'Lee, Ana', 'Lee, Ana, Bob'];
    const yeses = names.map((by): Yes => ({ by, why: null, at: ASKED_AT, proof: { kind: 'none' } }));
    const approved = { plan: asked, yeses };
    for (const heldBy of ['Lee, Ana', 'Lee, Ana, Bob', 'Lee, Lee, Ana', 'Lee, Lee, Ana, Bob', names.join(', ')])
      assert.deepEqual(verifyReceipt(made({ approved, heldBy }), null).problems, [], heldBy);
    for (const heldBy of ['Ana', 'Lee, Bob', 'Lee, Ana, Lee', 'Lee, Ana, Ana', 'Lee, Ana, '])
      assert.notDeepEqual(verifyReceipt(made({ approved, heldBy }), null).problems, [], heldBy);
  });

  test('of a reset run is good with what was approved before the reset, and not with an approval of another attempt', () => {
    const { entries } = made();
    const [request, ...rest] = entries;
    const ofReset = (executionId: string) => {
      const recorded = { workflowId, runId: 'the run after the reset' };
      const facts = { ...request!.facts, ...recorded, executionId };
      return verifyReceipt(sent(receiptOf(recorded, [{ ...request!, facts }, ...rest])), SIGNERS).problems;
    };
    assert.deepEqual(ofReset(runId), []);
    assert.deepEqual(ofReset('another attempt'), ['approval: it is one of another run']);
  });

  test('with too few approvals is good only if nothing was requested', () => {
    const approved = oneOfTwo();
    for (const [reached, problems] of [
      ['nothing', []],
      ['backup', ['approval: it has 1 of 2 approvals (production)']],
    ] as const)
      assert.deepEqual(verifyReceipt(made({ approved, reached }), SIGNERS).problems, problems, reached);
  });

  test('is not good with a backup that was requested before the approval', () => {
    const { problems } = verifyReceipt(made({ reached: 'backup', postedAt: before(1) }), SIGNERS);
    assert.deepEqual(problems, ['approval: a backup was requested before it was given, or when it was over']);
  });

  test('counts a request that was in doubt as one', () => {
    const approved = oneOfTwo();
    for (const reached of ['backup', 'deployment'] as const) {
      const { problems } = verifyReceipt(made({ approved, reached, isInDoubt: true }), SIGNERS);
      assert.deepEqual(problems, ['approval: it has 1 of 2 approvals (production)'], reached);
    }
    for (const [postedAt, problems] of [
      [ASKED_AT, []],
      [before(-12 * HOUR_MS), [`approval: ${AT_ANOTHER_TIME}`]],
    ] as const)
      assert.deepEqual(verifyReceipt(made({ postedAt, isInDoubt: true }), SIGNERS).problems, problems, postedAt);
  });

  test('is good if a permit forbade to send what was in doubt again', () => {
    const again = { at: before(-12 * HOUR_MS), idempotencyKey: null, answeredAt: null, result: 'it was over' };
    const problemsWith = (post: SentPost) => verifyReceipt(made({ isInDoubt: true, posts: [post] }), SIGNERS).problems;
    assert.deepEqual(problemsWith({ ...again, effect: 'none' }), []);
    assert.deepEqual(problemsWith(again), [`approval: ${AT_ANOTHER_TIME}`]);
  });

  test('is good if a signature counted for a rule that asks for no proof, too', () => {
    const asked = approvalPlan({ rules: [approvalRule(), approvalRule({ name: 'extra', proof: 'none' })] });
    const approved = { plan: asked, yeses: [signedYes(ana, asked, 'ana')] };
    assert.deepEqual(verifyReceipt(made({ approved }), SIGNERS).problems, []);
  });

  test('is not good once a rule is over, although the same key answered another rule later, under another name', () => {
    const rules = [approvalRule({ goodForMs: HOUR_MS }), approvalRule({ name: 'extra', proof: 'none' })];
    const asked = approvalPlan({ rules });
    const later = { ...signedYes(ana, asked, 'eve'), at: before(-HOUR_MS / 2) };
    const approved = { plan: asked, yeses: [signedYes(ana, asked, 'ana'), later] };
    for (const [postedMs, problems] of [
      [HOUR_MS - 1, []],
      [HOUR_MS, [`approval: ${AT_ANOTHER_TIME}`]],
    ] as const)
      assert.deepEqual(verifyReceipt(made({ approved, postedAt: before(-postedMs) }), null).problems, problems);
  });

  test('of a run of a rollout is good with the approval of the rollout', () => {
    assert.deepEqual(verifyReceipt(made({ approved: ofRollout('12') }), SIGNERS).problems, []);
  });

  test('has a file name that every file system takes, whatever the id of its run is', () => {
    const longest = runWorkflowId('deployOnly', { siteIds: ['\u00e9'.repeat(30)] }, 'key');
    const names = [longest, '../..\\/'.repeat(25)].map((it) => receiptFileName({ workflowId: it, runId }));
    for (const name of names) {
      assert.ok(Buffer.byteLength(`${name}.part`) <= 255, name);
      assert.match(name, /^[\w.%-]+\.json$/);
    }
  });

  for (const [what, facts] of [
    ['no facts of an answer', {}],
    ['a plan without rules', { plan: { askedAt: ASKED_AT }, yeses: [] }],
    ['rules that are no list', { plan: { askedAt: ASKED_AT, rules: 'production' }, yeses: [] }],
    ['a rule that is nothing', { plan: { askedAt: ASKED_AT, rules: [null] }, yeses: [] }],
    ['answers that are no list', { plan: { askedAt: ASKED_AT, rules: [{ name: 'production' }] }, yeses: 1 }],
    ['an answer that is nothing', { plan: { askedAt: ASKED_AT, rules: [{ name: 'production' }] }, yeses: [null] }],
  ] as const) {
    test(`with ${what} is not good, which is said of each entry that needs it`, () => {
      const entries = made({ heldBy: 'ana' }).entries.map((it) => (it.what === 'approval' ? { ...it, facts } : it));
      const { problems } = verifyReceipt(sent(receiptOf({ workflowId, runId }, entries)), SIGNERS);
      assert.match(problems[0] ?? '', /^approval: /);
      assert.equal(problems[1], 'held: it was approved by ana, but the receipt has no such answer');
    });
  }

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

test('a receipt says why a request failed, although workers that encrypt hide it from Temporal', async () => {
  const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
  const loadedDataConverter = { payloadConverter: defaultPayloadConverter, failureConverter, payloadCodecs: [] };
  const failure = await encodeErrorToFailure(loadedDataConverter, ApplicationFailure.create({ message: 'refused' }));
  assert.equal(failure.message, 'Encoded failure');
  const error = await decodedFailure({ options: { loadedDataConverter } } as unknown as Client, failure);
  assert.equal(error?.message, 'refused');
});

test('a file of signers that holds none, or is malformed, is an error that names it and the line', async () => {
  const signers = join(await tempFolder(), 'signers');
  for (const [text, problem] of [
    ['', 'it has no signer: write one per line, PRINCIPAL KEY-TYPE KEY'],
    ['# people\nana\n', 'line 2: it ends too early: write PRINCIPAL [OPTIONS] KEY-TYPE KEY'],
  ] as const) {
    await writeFile(signers, text);
    const message = `--signers ${signers}: ${problem}`;
    await assert.rejects(
      receipt(undefined, { verify: 'receipt.json', signers }, () => Promise.resolve(answersBy)),
      { type: 'Usage', message },
    );
  }
});
