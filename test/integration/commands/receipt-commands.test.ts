/** `belay receipt`, of runs and rollouts that ended in each way. Signatures are those of the real `ssh-keygen`. */
import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { WorkflowNotFoundError } from '@temporalio/client';
import { deploySiteId } from '../../../src/contract/ids.ts';
import { receiptFileName } from '../../../src/features/receipts/actions.ts';
import type { Receipt } from '../../../src/features/receipts/shapes.ts';
import type { RolloutWave } from '../../../src/features/rollouts/shapes.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { newPeople, questionOf, type BelayCommand, type People } from '../../support/approving.ts';
import { DEPLOY_PACE, PACE, PACE_INPUT } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { runInProcess } from '../../support/in-process.ts';
import { reads } from '../../support/journal.ts';
import { resetToEnd } from '../../support/reset.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { tempFolder } from '../../support/temporal.ts';
import { WITH_SSH_KEYGEN } from '../../support/with-ssh-keygen.ts';
import { startTestStack, TASK_QUEUE, temporalEnv, type TestStack } from '../../support/world.ts';

const SIGNED = fresh('signed');

let stack: TestStack;
let people: People;
let belay: BelayCommand;
let folder: string;

before(async () => {
  if (WITH_SSH_KEYGEN.skip !== undefined) return;
  [folder, people] = [await tempFolder(), await newPeople(['ana', 'bob'], ['eve'])];
  const { signers } = people;
  const quick = { durationMs: 300 };
  stack = await startTestStack({
    defaults: { backup: quick, deployment: quick },
    configuration: {
      approvals: { production: { proof: 'ssh', need: 2, signers: { file: signers }, for: { sites: [SIGNED] } } },
    },
  });
  belay = (...args) => runInProcess(args, temporalEnv(stack));
  // It has a status before.
  stack.sandbox.act({ site: SIGNED });
});

/** Starts it. @returns its id */
async function started(...args: string[]): Promise<string> {
  const { code, json, stderr } = await belay(...args, '--detach', '--json');
  assert.equal(code, 0, stderr);
  return json().workflowId as string;
}

/** Starts what has to be approved. @returns its id and the plan, once it asks */
const asking = async (...args: string[]) => questionOf(belay, await started(...args));

async function decide(decision: 'approve' | 'reject', id: string, plan: string, name: string, ...more: string[]) {
  const { code, stderr } = await belay(decision, id, '--plan', plan, ...people.as(name), ...more);
  assert.equal(code, 0, stderr);
}

/** Its receipt, which is good. @returns what it contains, and what its check printed */
async function receiptOf(workflowId: string) {
  const { code, stdout, stderr } = await belay('receipt', workflowId);
  assert.equal(code, 0, stderr);
  const file = join(folder, 'receipt.json');
  writeFileSync(file, stdout);
  const checked = await belay('receipt', '--verify', file, '--signers', people.signers);
  assert.equal(checked.code, 0, checked.stdout);
  const { entries, hash } = JSON.parse(stdout) as Receipt;
  const parts = entries.map(({ what }) => what);
  return { entries, parts, hash, checked: checked.stdout, file };
}

const BY_BOTH = /^approved by ana@example\.com: SHA256:\S+\napproved by bob@example\.com: SHA256:\S+\ngood: /;

describe('belay receipt', WITH_SSH_KEYGEN, () => {
  test('prints a document that can be checked without Temporal, and keeps those of all that closed', async () => {
    const { workflowId, plan } = await asking('deploy', '--site', SIGNED, ...DEPLOY_PACE);
    const early = await belay('receipt', workflowId);
    assert.deepEqual([early.code, /is still running: wait for its end/.test(early.stderr)], [2, true]);
    for (const name of ['ana', 'bob']) await decide('approve', workflowId, plan, name);
    assert.equal((await belay('wait', workflowId)).code, 0);
    const { parts, entries, checked, file } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'held', 'approval', 'baseline', 'post', 'deployment', 'end']);
    assert.deepEqual([entries[2]?.facts['hash'], entries[4]?.facts['result']], [plan, 'accepted']);
    assert.match(checked, BY_BOTH);
    writeFileSync(file, (await belay('receipt', workflowId)).stdout.replace('"accepted"', '"rejected"'));
    const changed = await belay('receipt', '--verify', file);
    assert.deepEqual([changed.code, /problem: entries\[4\] \(post\): it was changed/.test(changed.stdout)], [1, true]);

    const to = join(folder, 'receipts');
    await eventually('all receipts', async () => {
      const { code, stdout, stderr } = await belay('receipt', '--since', '1h', '--to', to);
      assert.equal(code, 0, stderr);
      return readdirSync(to).some((name) => name.startsWith(encodeURIComponent(workflowId))) ? stdout : null;
    });
    for (const name of readdirSync(to))
      assert.equal((await belay('receipt', '--verify', join(to, name))).code, 0, name);
  });

  test('keeps the others if one cannot be made, lists that one, and exits with 1', async () => {
    const workflowId = `backup:malformed:${fresh('k')}`;
    const options = { workflowId, taskQueue: TASK_QUEUE, args: [{ approved: [5] }] };
    await assert.rejects(stack.client.workflow.execute('backupOnly', options));
    const good = await stack.belay.start({ serverId: fresh('s'), backup: PACE_INPUT });
    await good.result();
    const running = fresh('s');
    stack.sandbox.script({ server: running }, { ends: 'never' });
    const inFlight = await stack.belay.start({ serverId: running, backup: PACE_INPUT });
    const to = join(folder, 'with-a-bad-one');
    const kept = await eventually('both', async () => {
      const { code, stdout } = await belay('receipt', '--since', '1h', '--to', to, '--json');
      const { failed } = JSON.parse(stdout) as { failed: { workflowId: string }[] };
      const isSeen = readdirSync(to).some((name) => name.startsWith(encodeURIComponent(good.workflowId)));
      return isSeen && failed.length > 0 ? { code, failed } : null;
    });
    assert.deepEqual([kept.code, kept.failed.map((it) => it.workflowId)], [1, [workflowId]]);
    await inFlight.cancel();
  });

  test('names the path that cannot be written, and exits with 2', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const inFile = await belay('receipt', '--since', '1h', '--to', join(file, 'receipts'));
    const remedy = 'give --to a folder with free space that this user may write to';
    const refused = `belay: ${join(file, 'receipts')} cannot be written (ENOTDIR): ${remedy}\n`;
    assert.deepEqual([inFile.code, inFile.stderr], [2, refused]);

    const run = await stack.belay.start({ serverId: fresh('s'), backup: PACE_INPUT });
    const { workflowId, runId } = await run.result();
    const path = join(folder, 'taken', receiptFileName({ workflowId: workflowId!, runId: runId! }));
    mkdirSync(`${path}.part`, { recursive: true });
    await eventually('a receipt that cannot be written', async () => {
      const { code, stderr } = await belay('receipt', '--since', '1h', '--to', join(folder, 'taken'));
      return code === 2 && stderr.endsWith(`belay: ${path} cannot be written (EISDIR): ${remedy}\n`);
    });
  });

  test('shows who approved a run whose backup failed, so that no site was reached', async () => {
    const serverId = fresh('s');
    stack.sandbox.script({ server: serverId }, { durationMs: 300, ends: 'failed' });
    stack.sandbox.fault({ route: 'create-backup', target: serverId, answer: { kind: 'status', code: 429 } });
    const { workflowId, plan } = await asking('run', '--server', serverId, '--site', SIGNED, ...PACE);
    for (const name of ['ana', 'bob']) await decide('approve', workflowId, plan, name);
    assert.equal((await belay('wait', workflowId)).code, 1);
    const { parts, entries, checked } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'held', 'approval', 'post', 'post', 'backup', 'deployment', 'end']);
    const posts = entries.filter(({ what }) => what === 'post');
    assert.deepEqual(
      posts.map(({ facts }) => facts['effect'] ?? facts['result']),
      ['none', 'accepted'],
    );
    assert.match(checked, BY_BOTH);
  });

  test('shows who rejected a run with the signature, and who had approved it', async () => {
    const { workflowId, plan } = await asking('deploy', '--site', SIGNED, ...DEPLOY_PACE);
    await decide('approve', workflowId, plan, 'ana');
    const forged = ['--by', 'bob@example.com', '--key', people.keys['eve'] ?? ''];
    assert.equal((await belay('approve', workflowId, '--plan', plan, ...forged)).code, 2);
    await decide('reject', workflowId, plan, 'bob', '--reason', 'not today');
    assert.equal((await belay('wait', workflowId)).code, 6);
    const { parts, checked } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'held', 'approval', 'rejection', 'deployment', 'end']);
    assert.match(checked, /^approved by ana@\S+: SHA256:\S+\nrejected by bob@\S+: SHA256:\S+\ngood: /);
  });

  test('shows the same of a run that waited in the pool of its workers', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const pooled: RunInput = { waits: 'pooled', backup: PACE_INPUT, deploy: PACE_INPUT };
    const run = await stack.belay.start({ ...pooled, serverId, siteIds: [siteId] });
    await run.result();
    const { parts, entries } = await receiptOf(run.workflowId);
    assert.deepEqual(parts, ['request', 'post', 'backup', 'post', 'deployment', 'end']);
    assert.deepEqual(entries.at(-1)?.facts['outcome'], 'completed');
  });

  test('shows what a terminated run had done', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    stack.sandbox.script({ site: siteId }, { ends: 'never' });
    const workflowId = await started('run', '--server', serverId, '--site', siteId, ...PACE);
    await eventually('its deployment', async () => {
      const status = (await belay('status', workflowId, '--json')).json();
      return (status.deployments[0]?.polls ?? 0) > 1;
    });
    await stack.client.workflow.getHandle(workflowId).terminate('by hand');
    const { parts, entries } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'post', 'backup', 'post', 'deployment', 'end']);
    const { outcome, error } = entries.at(-1)?.facts as Pick<RunResult, 'outcome' | 'error'>;
    assert.deepEqual([outcome, error?.type], ['unknown', 'Terminated']);
    stack.sandbox.finish({ site: siteId }, 'completed');
  });

  test('says what is missing of an operation that Temporal has deleted', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const run = await stack.belay.start({ serverId, siteIds: [siteId], backup: PACE_INPUT, deploy: PACE_INPUT });
    const { workflowId } = await run.result();
    const { client } = stack;
    const operation = deploySiteId(siteId);
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: operation },
    });
    const isGone = (error: unknown) => error instanceof WorkflowNotFoundError;
    await eventually('its deletion', () =>
      client.workflow
        .getHandle(operation)
        .describe()
        .then(() => false, isGone),
    );
    const { parts, entries } = await receiptOf(workflowId!);
    assert.deepEqual(parts, ['request', 'post', 'backup', 'deployment', 'end']);
    assert.equal(entries[2]?.facts['missing'], undefined);
    const deleted = new RegExp(`^Temporal has deleted ${operation} \\(\\S+\\): its requests, and the status before`);
    assert.match(String(entries[3]?.facts['missing']), deleted);
    assert.equal(entries[3]?.facts['outcome'], 'completed');
  });

  test('shows the deployment that a watch saw, and no request', async () => {
    const siteId = fresh('a');
    const workflowId = await started('watch', '--site', siteId, ...DEPLOY_PACE);
    // What it reads first would count as the status before the deployment.
    const last = () => reads(stack.sandbox, `/v1/sites/${siteId}/deployments/latest`).at(-1);
    await eventually('a read', () => last() !== undefined);
    stack.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    stack.sandbox.act({ site: siteId });
    await eventually('a read in progress', () => last()?.said === 'building');
    stack.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await belay('wait', workflowId)).code, 0);
    const { parts, entries } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'deployment', 'end']);
    assert.equal(entries[1]?.facts['outcome'], 'completed');
  });

  test('shows who rejected a wave of a rollout, and the hash of the receipt of each run', async () => {
    const [canary, rest] = [servers(1), servers(1)];
    const waves: RolloutWave[] = [
      { name: 'canary', targets: canary },
      { name: 'rest', approval: 'production', targets: rest },
    ];
    const rollout = await stack.belay.rollouts.start(rolloutOf([], { waves }));
    const { workflowId } = rollout;
    const { plan } = await questionOf(belay, workflowId);
    await decide('reject', workflowId, plan, 'bob', '--reason', 'the canary is slow');
    const { targets } = await endOf(rollout);
    const { parts, entries, checked } = await receiptOf(workflowId);
    assert.deepEqual(parts, ['request', 'held', 'rejection', 'decision', 'run', 'run', 'end']);
    assert.match(checked, /^rejected by bob@example\.com: SHA256:\S+\ngood: /);
    const ofCanary = await receiptOf(targets[0]?.workflowId ?? '');
    const inRollout = entries.filter(({ what }) => what === 'run').map(({ facts }) => facts['receipt']);
    assert.deepEqual(inRollout, [ofCanary.hash, null]);
    // A reset keeps the answers from before it.
    const runId = await resetToEnd(stack.client, workflowId);
    await endOf(stack.belay.rollouts.get(workflowId, runId));
    const ofReset = await receiptOf(workflowId);
    assert.deepEqual(ofReset.entries[0]?.facts['runId'], runId);
    assert.match(ofReset.checked, /^rejected by bob@example\.com: SHA256:\S+\ngood: /);
    await eventually('the receipt of the rollout in the folder', async () => {
      const { stdout } = await belay('receipt', '--since', '1h', '--to', join(folder, 'of-rollouts'), '--json');
      return stdout.includes(encodeURIComponent(workflowId));
    });
  });

  test('is an error without anything to do, with too much, or for what has no receipt', async () => {
    const wrong = [[], ['deploy:1:2', '--verify', 'file'], ['--since', '1h'], ['--verify', '/no/such/file']];
    for (const args of [...wrong, [deploySiteId(SIGNED)]]) {
      const { code, stderr } = await belay('receipt', ...args);
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    }
    const { stderr } = await belay('receipt', deploySiteId(SIGNED));
    assert.match(
      stderr,
      /is a deploySite, of which there is no receipt: use the id of a run from `npx belay-deploy list`, or of/,
    );
  });
});
