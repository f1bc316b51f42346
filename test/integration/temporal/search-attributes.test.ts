import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, test } from 'node:test';
import type { SearchAttributeMode } from '../../../src/config/environment/environment.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { startPlainCloud, startWorkerBehind, type PlainCloud } from '../../support/cloud.ts';
import { PACE } from '../../support/command-line.ts';
import { connectTo } from '../../support/connect.ts';
import { runInProcess } from '../../support/in-process.ts';
import { STATUS } from '../../support/front.ts';
import { temporalExecutable } from '../../support/temporal.ts';
import { workerLog } from '../../support/runtime.ts';
import { TOKEN } from '../../support/world.ts';

const RUN = ['run', '--server', 's1', '--site', 'a1', '--json', ...PACE];

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({
    token: TOKEN,
    defaults: { backup: { durationMs: 300 }, deployment: { durationMs: 300 } },
  });
  atEnd(() => sandbox.close());
});

/** A namespace whose front serves the operator service to no one. */
async function startCloud(): Promise<PlainCloud> {
  const cloud = await startPlainCloud();
  const refused = () => ({ status: STATUS.permissionDenied, message: 'Request unauthorized.' });
  for (const method of ['ListSearchAttributes', 'AddSearchAttributes', 'UpdateNamespace']) {
    cloud.front.refuse(method, refused);
  }
  return cloud;
}

/** Those of Belay that a workflow has. */
async function attributesOf({ place }: PlainCloud, workflowId: string): Promise<string[]> {
  const connection = await connectTo(place.address);
  const execution = { workflowId };
  const { namespace } = place;
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace,
    execution,
  });
  await connection.close();
  const names = Object.keys(workflowExecutionInfo?.searchAttributes?.indexedFields ?? {});
  return names.filter((name) => name.startsWith('Belay')).sort();
}

/** What a run has in the end that such a worker executed. */
async function attributesOfRun(cloud: PlainCloud, searchAttributes: SearchAttributeMode): Promise<string[]> {
  const starter = { ...cloud.env, BELAY_TASK_QUEUE: await startWorkerBehind(cloud, sandbox.url, searchAttributes) };
  const { code, stdout, json } = await runInProcess(RUN, starter);
  assert.equal(code, 0, stdout);
  return attributesOf(cloud, json().workflowId ?? '');
}

const doctor = async ({ env }: PlainCloud, extra: Record<string, string>, ...args: string[]) => {
  const { stdout } = await runInProcess(['doctor', '--json', ...args], { ...env, ...extra });
  const { checks } = JSON.parse(stdout) as {
    checks: { name: string; state: string; message: string; remedy?: string }[];
  };
  const of = (name: string) => checks.find((it) => it.name === name)!;
  return { attributes: of('search attributes'), namespace: of('namespace') };
};

const OF_RUN = ['BelayOutcome', 'BelayPhase', 'BelayServer', 'BelaySite'];

describe('search attributes that may not be registered', { concurrency: 1 }, () => {
  let cloud: PlainCloud;
  before(async () => void (cloud = await startCloud()));

  test('a worker uses none while some are missing, and names the command that creates them', async () => {
    assert.deepEqual(await attributesOfRun(cloud, 'register'), []);
    const problem =
      /not used: the namespace lacks BelaySite, .*BelayTrigger, and these credentials may not register them/;
    assert.match(workerLog(), problem);
    assert.match(workerLog(), /: run `temporal operator search-attribute create .*`, then restart the workers/);
  });

  test('a search for what is missing exits 2, and names doctor and the setting that would hide it there', async () => {
    const { code, stderr } = await runInProcess(['approvals'], { ...cloud.env, BELAY_SEARCH_ATTRIBUTES: 'off' });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /lacks search attributes of Belay: run `npx belay-deploy doctor`, without \w+=off$/m);
  });

  test('doctor prints a command that creates what is missing, and what --fix may not do', async () => {
    const { attributes, namespace } = await doctor(cloud, {}, '--fix');
    assert.equal(attributes.state, 'warning');
    assert.match(namespace.message, /the retention of suite-\d+ is not yours to set: ask its administrator to run/);
    const assumed = (await doctor(cloud, { BELAY_SEARCH_ATTRIBUTES: 'assume' })).attributes;
    assert.deepEqual([assumed.state, assumed.remedy?.includes('create')], ['failed', true]);
    assert.match(assumed.message, /assume, but the namespace lacks BelaySite/);
    assert.equal((await doctor(cloud, { BELAY_SEARCH_ATTRIBUTES: 'off' })).attributes.state, 'ok');
    const command = /`temporal (operator .*)`/.exec(attributes.remedy ?? '')?.[1] ?? '';
    execFileSync(await temporalExecutable(), [...command.split(' '), '--address', cloud.place.address]);
    const { state, message } = (await doctor(cloud, {})).attributes;
    assert.deepEqual([state, message], ['ok', 'all there, by a search']);
  });

  test('a worker uses them if a search shows that all are there', async () => {
    assert.deepEqual(await attributesOfRun(cloud, 'register'), OF_RUN);
  });

  test('a worker that assumes them asks for none', async () => {
    cloud.front.count();
    assert.deepEqual(await attributesOfRun(cloud, 'assume'), OF_RUN);
    const { ListSearchAttributes, AddSearchAttributes } = cloud.front.count();
    assert.deepEqual([ListSearchAttributes, AddSearchAttributes], [undefined, undefined]);
  });

  test('workers and starters that use none set none, even if the namespace has them', async () => {
    const starter = {
      ...cloud.env,
      BELAY_SEARCH_ATTRIBUTES: 'off',
      BELAY_TASK_QUEUE: await startWorkerBehind(cloud, sandbox.url, 'off'),
    };
    const { code, json } = await runInProcess(RUN, starter);
    assert.equal(code, 0);
    assert.deepEqual(await attributesOf(cloud, json().workflowId ?? ''), []);
  });

  test('a worker uses none if one of them has another type', async () => {
    const other = await startCloud();
    const types = ['BelaySite:KeywordList', 'BelayServer:KeywordList', 'BelayPhase:Text', 'BelayOutcome:Keyword'];
    const flags = [...types, 'BelayTrigger:Keyword'].flatMap((it) => [
      '--name',
      it.split(':')[0]!,
      '--type',
      it.split(':')[1]!,
    ]);
    const where = ['--address', other.place.address, '--namespace', other.place.namespace];
    execFileSync(await temporalExecutable(), ['operator', 'search-attribute', 'create', ...where, ...flags]);
    // The starter sets these two.
    assert.deepEqual(await attributesOfRun(other, 'register'), ['BelayServer', 'BelaySite']);
    assert.match(workerLog(), /not used: the namespace has BelayPhase with another type/);
  });
});
