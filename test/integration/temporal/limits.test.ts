/** Calls that Temporal limits for a namespace, and how few of them Belay makes. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { startPlainCloud, startWorkerBehind, type PlainCloud } from '../../support/cloud.ts';
import { PACE } from '../../support/command-line.ts';
import { STATUS, type Refusal } from '../../support/front.ts';
import { runInProcess } from '../../support/in-process.ts';
import { began } from '../../support/journal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

const LIMITED: Refusal = { status: STATUS.resourceExhausted, message: 'namespace rate limit exceeded' };
/** More than the SDK retries. */
const REFUSALS = 12;

let sandbox: Sandbox;
let cloud: PlainCloud;
let env: Record<string, string>;

/** Refuses the next calls of a method. @returns how many of the refusals are left */
function refuseNext(method: string, count: number): () => number {
  let left = count;
  cloud.front.refuse(method, () => (left > 0 ? ((left -= 1), LIMITED) : null));
  return () => left;
}

describe('calls that Temporal limits', { concurrency: 1 }, () => {
  before(async () => {
    const quick = { durationMs: 300 };
    sandbox = await startSandbox({ token: TOKEN, defaults: { backup: quick, deployment: quick } });
    atEnd(() => sandbox.close());
    cloud = await startPlainCloud();
    env = { ...cloud.env, BELAY_TASK_QUEUE: await startWorkerBehind(cloud, sandbox.url) };
  });

  const runCommand = (server: string) =>
    runInProcess(['run', '--server', server, '--site', fresh('a'), '--json', ...PACE], env);

  test('a start waits out that Temporal limits the question for workers, and starts once', async () => {
    const left = refuseNext('DescribeTaskQueue', REFUSALS);
    const server = fresh('s');
    const { code, stdout } = await runCommand(server);
    assert.equal(code, 0, stdout);
    assert.equal(left(), 0);
    assert.equal(began(sandbox, 'backup', server).length, 1);
  });

  test('a start waits out that Temporal limits starts, and starts once', async () => {
    const left = refuseNext('StartWorkflowExecution', REFUSALS);
    const server = fresh('s');
    const { code, stdout } = await runCommand(server);
    assert.equal(code, 0, stdout);
    assert.equal(left(), 0);
    assert.equal(began(sandbox, 'backup', server).length, 1);
  });

  test('a command that is limited to the end exits 7 with the reason', async () => {
    cloud.front.refuse('ListWorkflowExecutions', () => LIMITED);
    const { code, stderr } = await runInProcess(['list'], env);
    cloud.front.refuse('ListWorkflowExecutions', () => null);
    assert.equal(code, 7);
    assert.match(stderr, /cannot list runs: Temporal limits the calls of this namespace: .*try again later/);
  });

  test('a run makes no searches', async () => {
    cloud.front.count();
    const { code } = await runCommand(fresh('s'));
    assert.equal(code, 0);
    const { ListWorkflowExecutions = 0, CountWorkflowExecutions = 0, DescribeTaskQueue = 0 } = cloud.front.count();
    assert.deepEqual([ListWorkflowExecutions, CountWorkflowExecutions], [0, 0]);
    assert.ok(DescribeTaskQueue >= 2);
  });
});
