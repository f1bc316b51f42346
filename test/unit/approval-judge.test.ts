/** What a worker takes for an approval: of which plan, by whom, with what proof, and for how long. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApprovalPlan, type Approved, type Yes, planHash, treeOf } from '../../src/features/approvals/shapes.ts';
import type { LetOff } from '../../src/features/freezes/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { HOUR_MS } from '../../src/contract/duration.ts';
import { createApprovalJudge } from '../../src/features/approvals/worker.ts';
import { createProofDeps } from '../../src/features/approvals/worker-proofs.ts';
import { fixedPolicy } from '../../src/config/live-policy.ts';
import {
  approvalPlan,
  approvalRule,
  approvedFor,
  ASKED_AT,
  SERVICE,
  signedYes,
  signPlan,
  startedByPlan,
} from '../support/approvals.ts';
import { allowedSigners, newSshSigner } from '../support/ssh-signer.ts';

const [ana, bob, eve] = [newSshSigner(), newSshSigner(), newSshSigner()];
const ASKED_MS = Date.parse(ASKED_AT);
const SIGNERS = allowedSigners({ ana, bob });

interface Worker {
  need?: number;
  from?: string[];
  signers?: string;
  proof?: 'ssh' | 'none';
  expiry?: number;
  goodFor?: number;
}

const judgeOf = ({ need = 1, from, signers = SIGNERS, proof = 'ssh', ...times }: Worker = {}) => {
  const of = from === undefined ? {} : { from };
  const file = proof === 'ssh' ? { signers: { file: 'signers' } } : {};
  const configuration = { approvals: { production: { proof, need, ...times, ...of, ...file } } };
  return createApprovalJudge(fixedPolicy(configuration), {
    ...createProofDeps(),
    readText: () => Promise.resolve(signers),
  });
};

const checked = (
  plan: ApprovalPlan,
  yes: Omit<Yes, 'at'>,
  worker: Worker = {},
  decision: 'approve' | 'reject' = 'approve',
) => judgeOf(worker).check({ plan, ...yes, decision, atMs: ASKED_MS });

describe('an answer', () => {
  const plan = approvalPlan();

  test('counts with the signature of a signer, and names the key', async () => {
    const counted = await checked(plan, signedYes(ana, plan, 'ana'));
    assert.ok('rules' in counted);
    assert.deepEqual(counted.rules, ['production']);
    assert.match(counted.proven, /^SHA256:/);
  });

  const changes: Partial<{ [K in keyof ApprovalPlan]: ApprovalPlan[K] }> = {
    namespace: 'defaulT',
    workflowId: 'backup-then-deploy:12:release-8',
    executionId: '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a12',
    service: 'https://panel.example.con',
    type: 'deployOnly',
    serverId: '13',
    parts: { root: '00', servers: 1, targets: 1 },
    wave: 'canary',
    options: { ...plan.options, keepGoing: true },
    commit: '3f2c1ab',
    override: { freezes: ['christmas'], reason: 'CVE' },
    noCheck: { reason: 'the check is wrong' },
    rules: [approvalRule({ need: 2 })],
    askedAt: '2026-11-25T12:00:00.001Z',
  };
  for (const [field, value] of Object.entries(changes)) {
    test(`does not count for a plan with another ${field}`, async () => {
      const other = { ...plan, [field]: value };
      assert.notEqual(planHash(other), planHash(plan));
      const answer = await checked(other, signedYes(ana, plan, 'ana'));
      assert.match('problem' in answer ? answer.problem : '', /not one of this text/);
    });
  }

  test('does not count for a plan that only its hash tells apart', async () => {
    const other = approvalPlan({ rules: [approvalRule({ expiryMs: HOUR_MS })] });
    const answer = await checked(other, signedYes(ana, plan, 'ana'));
    assert.match('problem' in answer ? answer.problem : '', /not one of this text/);
  });

  test('has a field of the plan above for each that a plan has', () => {
    assert.deepEqual(Object.keys({ version: 1, ...changes }).sort(), Object.keys(plan).sort());
  });

  for (const [what, yes, problem] of [
    ['another name', { ...signedYes(ana, plan, 'ana'), by: 'bob' }, /not one of this text/],
    ['another reason', { ...signedYes(ana, plan, 'ana'), why: 'lgtm' }, /not one of this text/],
    ["someone else's key", signedYes(ana, plan, 'bob'), /is not one of bob/],
    ['a key of no signer', signedYes(eve, plan, 'ana'), /is not in the file of signers/],
    ['no signature', { by: 'ana', why: null, proof: { kind: 'none' } }, /needs a signature of SSH/],
    ['a name of two lines', signedYes(ana, plan, 'ana\nby: bob'), /one line each/],
  ] as [string, Omit<Yes, 'at'>, RegExp][]) {
    test(`does not count with ${what}`, async () => {
      const answer = await checked(plan, yes);
      assert.match('problem' in answer ? answer.problem : '', problem);
    });
  }

  test('that rejects is none that approves, and the other way round', async () => {
    const proof = {
      kind: 'ssh',
      signature: signPlan(ana, plan, 'ana', { decision: 'reject', why: 'not today' }),
    } as const;
    const rejected = { by: 'ana', why: 'not today', proof };
    assert.ok('rules' in (await checked(plan, rejected, {}, 'reject')));
    assert.ok('problem' in (await checked(plan, rejected)));
    assert.ok('problem' in (await checked(plan, signedYes(ana, plan, 'ana'), {}, 'reject')));
  });

  test('counts only by those who may decide', async () => {
    const answer = await checked(plan, signedYes(bob, plan, 'bob'), { from: ['ana'] });
    assert.match(
      'problem' in answer ? answer.problem : '',
      /bob is none of those who may decide about production: ana/,
    );
  });

  test('without any proof counts where none is asked for, and is not proven', async () => {
    const free = approvalPlan({ rules: [approvalRule({ proof: 'none' })] });
    const answer = await checked(free, { by: 'ana', why: null, proof: { kind: 'none' } }, { proof: 'none' });
    assert.deepEqual(answer, { rules: ['production'], proven: 'not proven' });
  });

  test('is left to another worker by one that has no such approval, or cannot read its signers', async () => {
    const unknown = approvalPlan({ rules: [approvalRule({ name: 'other' })] });
    await assert.rejects(checked(unknown, signedYes(ana, unknown, 'ana')), /has no approval other/);
    await assert.rejects(checked(plan, signedYes(ana, plan, 'ana'), { signers: '' }), /signers: .*it has no signer/);
  });
});

const DEPLOYMENT = {
  target: siteTarget('34'),
  serverId: '12',
  service: SERVICE,
};

/** The run that the plan is of. */
const OWN = startedByPlan(approvalPlan());

async function problemAt(
  approved: Approved[] | undefined,
  worker: Worker = {},
  hours = 1,
  deployment: typeof DEPLOYMENT & { letOff?: LetOff[] } = DEPLOYMENT,
  startedBy = [OWN],
) {
  const at = await judgeOf(worker).look({ ...deployment, approved }, () => Promise.resolve(startedBy));
  const problem = at(ASKED_MS + hours * HOUR_MS);
  return problem === null ? null : `${problem.type}: ${problem.message}`;
}

describe('a request for a deployment', () => {
  const plan = approvalPlan();
  const yeses = [signedYes(ana, plan, 'ana')];

  test('may be sent with its approval', async () => {
    assert.equal(await problemAt([approvedFor(plan, yeses)]), null);
  });

  test('may be sent without one where none is needed', async () => {
    const judge = createApprovalJudge(fixedPolicy({}));
    const asksNothing = () => assert.fail('it asked who started it');
    assert.equal((await judge.look(DEPLOYMENT, asksNothing))(ASKED_MS), null);
  });

  test('is refused without the approval that it needs, whatever its workflow says', async () => {
    const message =
      'Refused: it needs the approval production, which was not asked for when its run began: start it again';
    assert.equal(await problemAt(undefined), message);
    assert.equal(await problemAt([]), message);
    assert.equal(await problemAt([approvedFor(approvalPlan({ rules: [] }), yeses)]), message);
  });

  for (const [what, worker, problem] of [
    [
      'a signer was taken out',
      { signers: allowedSigners({ bob }) },
      /^Refused: only 0 of 1 approvals .* not in the file/,
    ],
    ['more approvals are needed by now', { need: 2 }, /^Refused: only 1 of 2 approvals \(production\) count now/],
    ['someone else decides by now', { from: ['bob'] }, /^Refused: only 0 of 1 approvals .* ana is none of those/],
  ] as [string, Worker, RegExp][]) {
    test(`is refused if ${what}`, async () => {
      assert.match((await problemAt([approvedFor(plan, yeses)], worker)) ?? '', problem);
    });
  }

  test('needs different people, not different keys', async () => {
    const second = newSshSigner();
    const signers = allowedSigners({ ana, bob }) + allowedSigners({ ana: second });
    const twice = [signedYes(ana, plan, 'ana'), signedYes(second, plan, 'ana')];
    assert.match((await problemAt([approvedFor(plan, twice)], { need: 2, signers })) ?? '', /^Refused: only 1 of 2/);
    const both = [signedYes(ana, plan, 'ana'), signedYes(bob, plan, 'bob')];
    assert.equal(await problemAt([approvedFor(plan, both)], { need: 2, signers }), null);
  });

  test('is refused if it lets off more than was approved', async () => {
    const frozen = { ...DEPLOYMENT, letOff: [{ kind: 'freeze' as const, name: 'christmas' }] };
    assert.match((await problemAt([approvedFor(plan, yeses)], {}, 1, frozen)) ?? '', /^Refused: what was approved for/);
    const override = approvalPlan({ override: { freezes: ['christmas'], reason: 'CVE' } });
    const approved = [approvedFor(override, [signedYes(ana, override, 'ana')])];
    assert.equal(await problemAt(approved, {}, 1, frozen), null);
  });

  test('is refused once what its worker asks for now is over', async () => {
    const approved = [approvedFor(plan, yeses)];
    assert.match((await problemAt(approved, { goodFor: HOUR_MS })) ?? '', /^ApprovalExpired: /);
    const late = [approvedFor(plan, [signedYes(ana, plan, 'ana', '2026-11-25T12:30:00.000Z')])];
    assert.match((await problemAt(late, { expiry: HOUR_MS / 4 })) ?? '', /^Refused: only 0 of 1/);
    assert.equal(await problemAt(late, { expiry: HOUR_MS, goodFor: 48 * HOUR_MS }), null);
  });

  test('needs different keys, not only different names', async () => {
    const signers = `ana,release ${ana.publicKey}\nbob,release ${bob.publicKey}\n`;
    const oneKey = [signedYes(ana, plan, 'ana'), signedYes(ana, plan, 'release')];
    assert.match((await problemAt([approvedFor(plan, oneKey)], { need: 2, signers })) ?? '', /^Refused: only 1 of 2/);
    const two = [...oneKey, signedYes(bob, plan, 'bob')];
    assert.equal(await problemAt([approvedFor(plan, two)], { need: 2, signers }), null);
  });

  test('is refused once the approval is no longer good, counted from the last one', async () => {
    assert.match(
      (await problemAt([approvedFor(plan, yeses)], {}, 12)) ?? '',
      /^ApprovalExpired: the approval production was good/,
    );
    const late = signedYes(bob, plan, 'bob', '2026-11-25T20:00:00.000Z');
    assert.equal(await problemAt([approvedFor(plan, [...yeses, late])], {}, 12), null);
  });

  test('is refused with an approval that came after the question was over, or before it was asked', async () => {
    for (const at of ['2026-11-26T12:00:00.001Z', '2026-11-25T11:59:59.999Z', 'never']) {
      assert.match((await problemAt([approvedFor(plan, [{ ...yeses[0]!, at }])])) ?? '', /^Refused: only 0 of 1/, at);
    }
  });

  for (const [what, deployment] of [
    ['another site', { ...DEPLOYMENT, target: siteTarget('36') }],
    ['another server', { ...DEPLOYMENT, serverId: '13' }],
    ['another service', { ...DEPLOYMENT, service: 'https://other.example.com' }],
  ] as const) {
    test(`is refused with the approval of ${what}`, async () => {
      assert.match(
        (await problemAt([approvedFor(plan, yeses)], {}, 1, deployment)) ?? '',
        /^Refused: what was approved for/,
      );
    });
  }
});

test('an approval counts for no other run, and for no later execution of its own', async () => {
  const plan = approvalPlan();
  const yeses = [signedYes(ana, plan, 'ana')];
  const others = [
    [],
    [{ ...OWN, workflowId: 'backup-then-deploy:12:release-8' }],
    [{ ...OWN, runId: '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a12' }],
  ];
  for (const startedBy of others) {
    const problem = await problemAt([approvedFor(plan, yeses)], {}, 1, DEPLOYMENT, startedBy);
    assert.match(problem ?? '', /^Refused: what was approved for/, JSON.stringify(startedBy));
  }
});

describe('a server of an approved rollout', () => {
  const parts = ['11', '12', '13', '14', '15'].map((serverId) => ({ serverId, targets: [siteTarget(`${serverId}0`)] }));
  const { root, pathTo } = treeOf(parts);
  const plan = approvalPlan({ type: 'rollOut', serverId: null, parts: { root, servers: 5, targets: 5 } });
  const yeses = [signedYes(ana, plan, 'ana')];

  test('may be deployed, whichever it is', async () => {
    for (const [index, part] of parts.entries()) {
      const deployment = { ...DEPLOYMENT, serverId: part.serverId, target: part.targets[0]! };
      const startedBy = [{ workflowId: `backup-then-deploy:${part.serverId}:n.k`, runId: 'child' }, OWN];
      const approved = [{ plan, yeses, part: { ...part, path: pathTo(index) } }];
      assert.equal(await problemAt(approved, {}, 1, deployment, startedBy), null, part.serverId);
    }
  });

  test('is refused if it was not part of what was approved', async () => {
    const stranger = { serverId: '12', targets: [siteTarget('999')] };
    const deployment = { ...DEPLOYMENT, target: siteTarget('999') };
    for (const part of [undefined, { ...stranger, path: pathTo(1) }, { ...parts[1]!, path: pathTo(1) }]) {
      const approved = [{ plan, yeses, ...(part === undefined ? {} : { part }) }];
      assert.match((await problemAt(approved, {}, 1, deployment)) ?? '', /^Refused: what was approved for/);
    }
  });
});

describe('the question of a run', () => {
  test('has the approvals that its deployments need, and the one that it names, once', async () => {
    const configuration = {
      approvals: {
        production: { proof: 'none' as const, for: { sites: ['34'] } },
        extra: { proof: 'none' as const, for: { sites: ['99'] } },
      },
    };
    const judge = createApprovalJudge(fixedPolicy(configuration));
    const names = async (named?: string | string[]) => {
      const answer = await judge.rulesFor([{ target: siteTarget('34') }, { serverId: '12' }], named);
      return 'rules' in answer ? answer.rules.map(({ name }) => name) : answer.error;
    };
    assert.deepEqual(await names(), ['production']);
    assert.deepEqual(await names('production'), ['production']);
    assert.deepEqual(await names('extra'), ['production', 'extra']);
    assert.deepEqual(await names(['extra', 'production']), ['production', 'extra']);
    const message = 'the worker\'s belay.yaml has no approval "staging": correct --approval, or add it under approvals';
    assert.deepEqual(await names('staging'), { type: 'Refused', message });
  });

  test('is refused by a worker with too few signers, and left to another one by one that cannot read its own', async () => {
    const answer = await judgeOf({ need: 3 }).rulesFor([{ target: siteTarget('34') }], undefined);
    assert.equal('error' in answer && answer.error.type, 'Refused');
    const unreadable = judgeOf({ signers: '# no one\n' }).rulesFor([{ target: siteTarget('34') }], undefined);
    await assert.rejects(unreadable, /signers: .*it has no signer/);
  });
});
