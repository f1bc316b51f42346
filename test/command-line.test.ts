import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { startSandbox, type Sandbox } from '../src/sandbox/server.ts';
import { atEnd } from './support/at-end.ts';
import { eventually } from './support/eventually.ts';
import { began } from './support/journal.ts';
import { run, start, startDev, type Dev } from './support/processes.ts';
import { tempFolder } from './support/temporal.ts';
import { fresh, TOKEN } from './support/world.ts';

const PACE = [
  '--backup-interval',
  '200ms',
  '--backup-tries',
  '20',
  '--deploy-interval',
  '200ms',
  '--deploy-tries',
  '20',
];
const [BACKUP_PACE, DEPLOY_PACE] = [PACE.slice(0, 4), PACE.slice(4)];

let sandbox: Sandbox;
let dev: Dev;
/** What somebody who only starts and waits has: no token. */
let client: Record<string, string>;

before(async () => {
  sandbox = await startSandbox({
    token: TOKEN,
    defaults: { backup: { durationMs: 500 }, deployment: { durationMs: 500 } },
  });
  atEnd(() => sandbox.close());
  client = { BELAY_HOME: join(await tempFolder(), 'home') };
  dev = await startDev({ ...client, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });
});

test('dev says in one line where everything is', () => {
  assert.deepEqual(Object.keys(dev.ready), ['temporal', 'ui', 'webhooks', 'service']);
  assert.equal(dev.ready.service, sandbox.url);
});

test('run backs up, deploys, prints exactly one document and exits 0', async () => {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  const { code, json } = await run(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], client);
  assert.equal(code, 0);
  const result = json();
  assert.deepEqual(Object.keys(result), [
    'schemaVersion',
    'workflowId',
    'runId',
    'service',
    'outcome',
    'phase',
    'backup',
    'deployments',
    'error',
    'meta',
    'links',
    'startedAt',
    'endedAt',
  ]);
  assert.equal(result.outcome, 'completed');
  assert.equal(result.service, sandbox.url);
  assert.ok(result.links.ui?.startsWith(dev.ready.ui));
});

test('without --json people read the same, on stdout', async () => {
  const { code, stdout } = await run(['deploy', '--site', fresh('a'), ...DEPLOY_PACE], client);
  assert.equal(code, 0);
  assert.match(stdout, /^completed in \d+ s\n {2}deployment of a\d+: completed, evidence: /);
  assert.ok(!stdout.includes('\u001b'), 'colours without a terminal');
});

test('a deployment the service says failed exits 1', async () => {
  const siteId = fresh('a');
  sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' });
  const { code, json } = await run(['deploy', '--site', siteId, ...DEPLOY_PACE, '--json'], client);
  assert.equal(code, 1);
  assert.equal(json().error?.type, 'DeploymentFailed');
});

test('a backup the service says failed exits 1, and nothing is deployed', async () => {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  sandbox.script({ server: serverId }, { durationMs: 300, ends: 'failed' });
  const { code, json } = await run(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], client);
  assert.equal(code, 1);
  assert.equal(json().error?.type, 'BackupFailed');
  assert.equal(began(sandbox, 'deployment', siteId).length, 0);
});

test('one that never ends exits 3 after exactly the tries asked for', async () => {
  const serverId = fresh('s');
  sandbox.script({ server: serverId }, { ends: 'never' });
  const args = ['backup', '--server', serverId, '--backup-interval', '200ms', '--backup-tries', '4', '--json'];
  const { code, json } = await run(args, client);
  assert.equal(code, 3);
  assert.equal(json().backup?.polls, 4);
});

test('a missing option exits 2 and starts nothing', async () => {
  const before = sandbox.journal.length;
  const { code, json, stderr } = await run(['run', '--server', 's1', '--json'], client);
  assert.equal(code, 2);
  assert.equal(json().error?.type, 'Usage');
  assert.match(json().error?.message ?? '', /--site/);
  assert.equal(stderr, '');
  assert.equal(sandbox.journal.length, before);
});

test('a detached run is found again by wait and status', async () => {
  const serverId = fresh('s');
  sandbox.script({ server: serverId }, { durationMs: 1_500 });
  const detached = await run(['backup', '--server', serverId, ...BACKUP_PACE, '--detach', '--json'], client);
  assert.equal(detached.code, 0);
  const { workflowId } = detached.json();
  assert.ok(workflowId);
  const status = await run(['status', workflowId, '--json'], client);
  assert.equal(status.code, 0);
  assert.equal(status.json().outcome, null);
  assert.equal(status.json().phase, 'backup');
  const waited = await run(['wait', workflowId, '--json'], client);
  assert.equal(waited.code, 0);
  assert.equal(waited.json().outcome, 'completed');
  assert.equal((await run(['status', workflowId, '--json'], client)).json().outcome, 'completed');
});

test('a run that does not exist exits 2', async () => {
  for (const command of ['wait', 'status']) {
    const { code, json } = await run([command, 'deploy:nobody:nothing', '--json'], client);
    assert.equal(code, 2);
    assert.equal(json().error?.type, 'NotFound');
  }
});

test('a service that refuses the token exits 6, and nothing was triggered', async () => {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  sandbox.setToken('another');
  try {
    const { code, json } = await run(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], client);
    assert.equal(code, 6);
    assert.equal(json().error?.type, 'Refused');
    assert.equal(json().outcome, 'not_started');
  } finally {
    sandbox.setToken(TOKEN);
  }
  assert.equal(began(sandbox, 'backup', serverId).length + began(sandbox, 'deployment', siteId).length, 0);
});

test('Ctrl-C ends the waiting and not the run, and says how to go on', async () => {
  const serverId = fresh('s');
  sandbox.script({ server: serverId }, { durationMs: 2_000 });
  const waiting = start(['backup', '--server', serverId, ...BACKUP_PACE, '--json'], client);
  await eventually('the backup', () => began(sandbox, 'backup', serverId).length === 1);
  waiting.process.kill('SIGINT');
  const { code, json, stderr } = await waiting.finished;
  assert.equal(code, 130);
  assert.equal(json().error?.type, 'StoppedWaiting');
  const { workflowId } = json();
  assert.match(stderr, new RegExp(`belay wait ${workflowId}[^]*belay cancel ${workflowId}`));
  assert.equal((await run(['wait', String(workflowId), '--json'], client)).json().outcome, 'completed');
});
