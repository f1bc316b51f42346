/** `belay approve`, `reject` and `approvals`, with keys and signatures of the real `ssh-keygen`. */
import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { ApprovalAnswer, CountedAnswer } from '../../../src/features/approvals/shapes.ts';
import { newPeople, questionOf, type BelayCommand, type ListedQuestion, type People } from '../../support/approving.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { fresh } from '../../support/fresh.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { run } from '../../support/processes.ts';
import { WITH_SSH_KEYGEN } from '../../support/with-ssh-keygen.ts';
import { startTestStack, temporalEnv, type TestStack } from '../../support/world.ts';

const [SIGNED, AUDITED] = [fresh('signed'), fresh('audited')];

let stack: TestStack;
let people: People;
let belay: BelayCommand;
let deployments: (site: string) => number;

before(async () => {
  if (WITH_SSH_KEYGEN.skip !== undefined) return;
  people = await newPeople(['ana', 'bob'], ['eve']);
  const quick = { durationMs: 500 };
  stack = await startTestStack({
    defaults: { backup: quick, deployment: quick },
    configuration: {
      approvals: {
        production: { proof: 'ssh', need: 2, signers: { file: people.signers }, for: { sites: [SIGNED] } },
        audit: { proof: 'none', for: { sites: [AUDITED] } },
      },
    },
  });
  const env = temporalEnv(stack);
  belay = (...args) => runInProcess(args, env);
  deployments = (site) => posts(stack.sandbox, `/v1/sites/${site}/deploy`).length;
});

/** Starts a deployment. @returns what it asks, once it does */
async function asking(site: string): Promise<ListedQuestion> {
  const started = await belay('deploy', '--site', site, ...DEPLOY_PACE, '--detach', '--json');
  assert.equal(started.code, 0, started.stderr);
  return questionOf(belay, String(started.json().workflowId));
}

const as = (name: string) => people.as(name);

/** What `belay top --json` shows of a run in flight. */
interface Shown {
  workflowId: string;
  phase: string;
  waiting: { kind: string; plan?: string } | null;
  why: string | null;
  needsAttention: boolean;
}

async function inTop(workflowId: string): Promise<Shown | undefined> {
  const { stdout } = await belay('top', '--json');
  return (JSON.parse(stdout) as { runs: Shown[] }).runs.find((it) => it.workflowId === workflowId);
}

describe('belay top', WITH_SSH_KEYGEN, () => {
  test('shows what a run asks, with the command that approves it, and that it needs attention', async () => {
    const { workflowId, plan } = await asking(SIGNED);
    const shown = await inTop(workflowId);
    assert.deepEqual([shown?.waiting?.kind, shown?.waiting?.plan, shown?.needsAttention], ['approval', plan, true]);
    assert.match(shown?.why ?? '', new RegExp(`belay approve ${workflowId} --plan ${plan.slice(0, 12)}`));
    assert.equal((await belay('cancel', workflowId)).code, 0);
    assert.equal((await belay('wait', workflowId)).code, 8);
  });
});

describe('belay approve', WITH_SSH_KEYGEN, () => {
  test('changes nothing with the wrong key, another plan, or without a plan where no person can confirm', async () => {
    const before = deployments(SIGNED);
    const { workflowId, plan } = await asking(SIGNED);
    for (const [args, problem] of [
      [['--plan', plan, '--by', 'ana@example.com', '--key', people.keys['eve'] ?? ''], /is not in the file of signers/],
      [
        ['--plan', plan, '--by', 'ana@example.com', '--key', people.keys['bob'] ?? ''],
        /is not one of ana@example\.com/,
      ],
      [['--plan', plan, '--by', 'ana@example.com', '--key', '/no/such/key'], /ssh-keygen did not sign with/],
      [['--plan', '0'.repeat(64), ...as('ana')], new RegExp(`asks about plan ${plan.slice(0, 12)}, not 0000`)],
      [as('ana'), new RegExp(`without a terminal, name the plan that you have read: --plan ${plan.slice(0, 12)}`)],
      [['--plan', plan, '--github'], /--github is for a job of GitHub Actions/],
      [['--plan', '9f2c'], /is not the hash of a plan/],
    ] as [string[], RegExp][]) {
      const { code, stderr } = await belay('approve', workflowId, ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, problem);
    }
    assert.equal((await belay('cancel', workflowId)).code, 0);
    assert.equal((await belay('wait', workflowId)).code, 8);
    assert.equal(deployments(SIGNED), before);
  });

  test('notes who decides where nothing is to be proven, and says so', async () => {
    const { workflowId, plan } = await asking(AUDITED);
    assert.match((await belay('approvals')).stdout, /waits for 1 approval \(audit, audit only\)/);
    assert.equal((await belay('approve', workflowId, '--plan', plan, '--by', 'zoe')).code, 0);
    const { held } = (await belay('wait', workflowId, '--json')).json();
    assert.deepEqual([held?.[0]?.by, held?.[0]?.proof], ['zoe', 'audit only, not proven']);
  });
});

describe('belay approvals', WITH_SSH_KEYGEN, () => {
  test('lists every server and site of what is asked with --json', async () => {
    const sites = [AUDITED, ...Array.from({ length: 30 }, () => fresh('site-with-a-long-name'))];
    const options = sites.flatMap((site) => ['--site', site]);
    const started = await belay('run', '--server', '12', ...options, ...DEPLOY_PACE, '--detach', '--json');
    assert.equal(started.code, 0, started.stderr);
    const { workflowId, parts } = await questionOf(belay, String(started.json().workflowId));
    assert.deepEqual(parts, [{ serverId: '12', targets: sites.map((id) => ({ kind: 'site', id })) }]);
    assert.equal((await belay('cancel', workflowId)).code, 0);
    assert.equal((await belay('wait', workflowId)).code, 8);
  });
});

describe('belay reject', WITH_SSH_KEYGEN, () => {
  test('ends the run with exit code 6 and the reason, although one person has approved it', async () => {
    const { workflowId, plan } = await asking(SIGNED);
    assert.equal((await belay('approve', workflowId, '--plan', plan, ...as('ana'))).code, 0);
    const missing = await belay('reject', workflowId, '--plan', plan, ...as('bob'));
    assert.deepEqual([missing.code, /--reason/.test(missing.stderr)], [2, true]);
    const rejected = await belay('reject', workflowId, '--plan', plan, ...as('bob'), '--reason', 'not today');
    assert.equal(rejected.code, 0, rejected.stderr);
    assert.match(rejected.stdout, /was rejected by bob@example\.com/);
    const waited = await belay('wait', workflowId, '--json');
    assert.equal(waited.code, 6);
    assert.deepEqual(waited.json().error, {
      type: 'ApprovalRejected',
      message: 'rejected by bob@example.com: not today',
    });
  });

  test('is an error for a run that there is not, and for one that asks nothing', async () => {
    const none = await belay('approve', 'deploy:none:none', '--plan', '0'.repeat(12));
    assert.equal(none.code, 2, none.stderr);
    assert.match(none.stderr, /deploy:none:none/);
  });
});

describe('an answer', WITH_SSH_KEYGEN, () => {
  test('that is sent again after its answer was lost gets the same answer, and counts once', async () => {
    const { workflowId, plan } = await asking(AUDITED);
    const handle = stack.client.workflow.getHandle(workflowId);
    const args: [ApprovalAnswer] = [{ plan, by: 'zoe', why: null, proof: { kind: 'none' } }];
    const send = () => handle.executeUpdate<CountedAnswer, [ApprovalAnswer]>('approve', { args, updateId: 'one' });
    const [first, again] = [await send(), await send()];
    assert.deepEqual(again, first);
    assert.equal(first.plan.workflowId, workflowId);
    const { code, json } = await belay('wait', workflowId, '--json');
    assert.deepEqual([code, json().held?.[0]?.by], [0, 'zoe']);
  });
});

describe('without a worker', WITH_SSH_KEYGEN, () => {
  /** Processes of their own have the real limits. Those of this one end only what hangs. */
  const belayWithLimits: BelayCommand = (...args) => run(args, temporalEnv(stack));

  test('an answer exits with 7 and the command to repeat', async () => {
    const { workflowId, plan } = await asking(SIGNED);
    await stack.worker.stop();
    const command = ['approve', workflowId, '--plan', plan.slice(0, 12)];
    const { code, stderr } = await belayWithLimits(...command, ...as('ana'));
    assert.equal(code, 7, stderr);
    assert.ok(stderr.includes(`then repeat: \`npx belay-deploy ${command.join(' ')} --by `), stderr);
  });

  test('what is asked stays in the list, which says that no worker answers', async () => {
    const listed = await belayWithLimits('approvals', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    const { approvals } = JSON.parse(listed.stdout) as { approvals: { workflowId: string; why: string | null }[] };
    const [asked] = approvals;
    assert.match(asked?.why ?? '', /no worker/);
    const text = await belayWithLimits('approvals');
    assert.deepEqual([text.code, text.stdout.includes(`${asked?.workflowId}\n`)], [0, true]);
    assert.match(text.stdout, /asks for an approval that is not known: .*no worker/);
  });
});
