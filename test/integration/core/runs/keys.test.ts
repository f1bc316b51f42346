import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { Connection } from '@temporalio/client';
import { before, describe, test } from 'node:test';
import { BelayError, connect, exitCodeOf } from '../../../../src/starter.ts';
import { atEnd } from '../../../support/at-end.ts';
import { DEPLOY_PACE, PACE_INPUT } from '../../../support/command-line.ts';
import { commandsOf, type Commands } from '../../../support/commands.ts';
import { eventually } from '../../../support/eventually.ts';
import { runInProcess } from '../../../support/in-process.ts';
import { began } from '../../../support/journal.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../../support/world.ts';

let stack: TestStack;
let on: Commands;
before(async () => {
  stack = await sharedStack();
  on = commandsOf(stack);
});

const deploy = (siteId: string, ...more: string[]) =>
  on.belay('deploy', '--site', siteId, ...DEPLOY_PACE, '--json', ...more);

/** A connection on which the answer to a start is lost. */
async function losingStarts(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  atEnd(() => connection.close());
  const { workflowService } = connection;
  const start = workflowService.startWorkflowExecution.bind(workflowService);
  Object.assign(workflowService, {
    async startWorkflowExecution(request: Parameters<typeof start>[0]) {
      await start(request);
      throw Object.assign(new Error('14 UNAVAILABLE: lost'), { code: 14, details: 'lost', metadata: new Map() });
    },
  });
  return connection;
}

describe('keys', { concurrency: 4 }, () => {
  test('a start whose answer is lost says that the run may have been started, and names it', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const connection = await losingStarts(stack.address);
    const belay = await connect({ connection, namespace: stack.namespace });
    const rollout = {
      name: fresh('r'),
      fleet: 'f',
      waves: [{ name: 'all', targets: [{ serverId }] }],
      maxAtOnce: 1,
      maxFailures: 0,
    };
    for (const start of [
      () => belay.start({ siteIds: [siteId], deploy: PACE_INPUT }),
      () => belay.rollouts.start({ ...rollout, onFailures: 'stop', options: {} }),
    ]) {
      const error: unknown = await start().then(
        () => null,
        (it: unknown) => it,
      );
      assert.ok(error instanceof BelayError);
      assert.equal(exitCodeOf(error), 7, error.message);
      const [, workflowId = ''] =
        /^Temporal did not answer, so (\S+) may have been started: /.exec(error.message) ?? [];
      const { status } = await on.client.workflow.getHandle(workflowId).describe();
      assert.notEqual(status.name, 'UNSPECIFIED');
    }
  });

  test('a start with the key of a running run joins it, and both return its outcome', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const first = await deploy(siteId, '--key', 'k', '--detach');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const joins = await deploy(siteId, '--key', 'k', '--detach');
    assert.equal(joins.json().workflowId, `deploy:${siteId}:k`);
    assert.equal(joins.json().runId, first.json().runId);
    on.sandbox.finish({ site: siteId }, 'failed');
    assert.equal((await deploy(siteId, '--key', 'k')).code, 1);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('the key of a closed run returns its stored result, whatever its notes are, and even with --again if it completed', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k', '--meta', 'attempt=1');
    // An explicit default is the same request as an omitted one.
    const defaults = ['--min-evidence', 'settled', '--busy-timeout', '30m'];
    for (const more of [[], ['--again'], ['--meta', 'attempt=2'], defaults]) {
      const { code, json } = await deploy(siteId, '--key', 'k', ...more);
      assert.equal(code, 0, more.join(' '));
      assert.deepEqual(json(), { ...first.json(), attached: true });
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('a job in CI notes who, commit and address, never expects the commit, and attaches under the key of another job', async () => {
    const siteId = fresh('a');
    const job = (id: string) => ({
      ...on.env,
      ...{ GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: id },
      ...{ GITHUB_SHA: id.repeat(40), GITHUB_ACTOR: `actor-${id}` },
    });
    const args = ['deploy', '--site', siteId, ...DEPLOY_PACE, '--json', '--key', 'k', '--meta', 'by=me'];
    const first = await runInProcess(args, job('1'));
    const address = 'https://github.example/acme/shop/actions/runs/1';
    assert.deepEqual(first.json().meta, { by: 'me', commit: '1'.repeat(40), job: address });
    assert.deepEqual([first.code, first.json().commit], [0, null]);
    const second = await runInProcess(args, job('2'));
    assert.deepEqual([second.code, second.json()], [0, { ...first.json(), attached: true }]);
  });

  test('the key of a failed run returns that failure and starts a new run with --again', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' }, { durationMs: 300 });
    const first = await deploy(siteId, '--key', 'k');
    assert.equal(first.code, 1);
    assert.deepEqual((await deploy(siteId, '--key', 'k')).json(), { ...first.json(), attached: true });
    const other = await deploy(siteId, '--key', 'k', '--site', fresh('a'), '--again');
    assert.equal(other.json().error?.type, 'KeyReused');
    const again = await deploy(siteId, '--key', 'k', '--again');
    assert.equal(again.code, 0);
    assert.notEqual(again.json().runId, first.json().runId);
  });

  test('the key of a run started by another Temporal client returns its result, and other input is rejected', async () => {
    const siteId = fresh('a');
    const input = { siteIds: [siteId], deploy: PACE_INPUT };
    const started = { workflowId: `deploy:${siteId}:k`, taskQueue: 'belay', args: [input] };
    await (await on.client.workflow.start('deployOnly', started)).result();
    assert.equal((await deploy(siteId, '--key', 'k')).code, 0);
    for (const again of [[], ['--again']]) {
      const { code, json } = await deploy(siteId, '--key', 'k', '--site', fresh('a'), ...again);
      assert.equal(code, 2);
      assert.equal(json().error?.type, 'KeyReused');
      assert.match(json().error?.message ?? '', /was started with other input: use another key/);
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });
});
