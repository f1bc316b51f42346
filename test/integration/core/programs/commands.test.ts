/** The command line as processes: verdicts, signals, and the start and clean end of each program. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { connect as dial } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { commandsOf, type Commands } from '../../../support/commands.ts';
import { BACKUP_PACE, PACE } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { began } from '../../../support/journal.ts';
import { newKeyFile } from '../../../support/key-files.ts';
import { descendants, gone } from '../../../support/process-tree.ts';
import { run, start, startWebhooks, type Finished } from '../../../support/processes.ts';
import { SECRET, signed } from '../../../support/receiver.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { newPlace } from '../../../support/shared-temporal.ts';
import { tempFolder } from '../../../support/temporal.ts';
import { fresh, temporalEnv, TOKEN, type TestStack } from '../../../support/world.ts';

let world: TestStack;
let on: Commands;
before(async () => {
  world = await sharedStack();
  on = commandsOf(world);
});

function verdict({ code, json }: Finished) {
  const { outcome, error } = json();
  return { code, outcome, type: error?.type ?? null };
}

describe('belay run', { concurrency: 3 }, () => {
  test('exit 0: everything completed', async () => {
    const finished = await run(['run', '--server', fresh('s'), '--site', fresh('a'), ...PACE, '--json'], on.env);
    assert.deepEqual(verdict(finished), { code: 0, outcome: 'completed', type: null });
  });

  test('exit 1: the service reports a failed backup, which people read in words', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { durationMs: 300, ends: 'failed' });
    const { code, stdout } = await run(['backup', '--server', serverId, ...BACKUP_PACE], on.env);
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`^failed in [^]*backup of ${serverId}: failed`));
  });

  test('a key that was used returns the stored verdict, and says that nothing was started', async () => {
    const args = ['backup', '--server', fresh('s'), ...BACKUP_PACE, '--key', 'k', '--json'];
    const first = await run(args, on.env);
    assert.deepEqual([first.code, first.json().attached], [0, false]);
    assert.doesNotMatch(first.stderr, /nothing was started/);
    const { endedAt } = first.json();
    const second = await run(args, on.env);
    assert.deepEqual([second.code, second.json().attached, second.json().endedAt], [0, true, endedAt]);
    assert.ok(
      second.stderr.includes(`This key's run ended at ${endedAt}: nothing was started; another key starts a new run`),
    );
  });

  test('exit 129: SIGHUP stops the wait as SIGTERM does, with a result', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const command = on.start('backup', '--server', serverId, ...BACKUP_PACE, '--json');
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    command.process.kill('SIGHUP');
    assert.deepEqual(verdict(await command.finished), { code: 129, outcome: null, type: 'StoppedWaiting' });
    on.sandbox.finish({ server: serverId }, 'completed');
  });

  test('exit 130: SIGINT stops the wait and not the run, and prints how to continue', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const command = on.start('backup', '--server', serverId, ...BACKUP_PACE, '--key', 'k', '--json');
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    command.process.kill('SIGINT');
    const finished = await command.finished;
    assert.deepEqual(verdict(finished), { code: 130, outcome: null, type: 'StoppedWaiting' });
    const workflowId = `backup:${serverId}:k`;
    assert.equal(finished.json().workflowId, workflowId);
    assert.match(
      finished.stderr,
      new RegExp(`npx belay-deploy wait ${workflowId}[^]*npx belay-deploy cancel ${workflowId}`),
    );
    on.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await run(['wait', workflowId, '--json'], on.env)).json().outcome, 'completed');
    assert.equal(began(on.sandbox, 'backup', serverId).length, 1);
  });
});

test('list shows as many runs as --limit allows, newest first', async () => {
  const started: string[] = [];
  while (started.length < 3) {
    const finished = await on.belay('backup', '--server', fresh('s'), ...BACKUP_PACE, '--detach', '--json');
    started.push(String(finished.json().workflowId));
  }
  const listed = async (...args: string[]) => {
    const { stdout } = await on.belay('list', ...args, '--json');
    return (JSON.parse(stdout) as { runs: { workflowId: string }[] }).runs.map(({ workflowId }) => workflowId);
  };
  // Temporal updates its list a moment later.
  await eventually('all three', async () => (await listed()).slice(0, 3).sort().join() === started.toSorted().join());
  assert.deepEqual(await listed('--limit', '2'), [started[2], started[1]]);
});

describe('programs', { concurrency: 3 }, () => {
  test('webhooks prints its address in one line of JSON, accepts deliveries, and on a signal finishes one in progress and exits 0', async () => {
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    const source = '{ verify: standard-webhooks, secrets: [{ env: PANEL_SECRET }] }';
    writeFileSync(BELAY_CONFIG, `events: { sources: { panel: ${source} } }`);
    const receiver = await startWebhooks({ BELAY_CONFIG, ...temporalEnv(world), PANEL_SECRET: SECRET });
    const { url, line, process: child, output, finished } = receiver;
    assert.match(line, /"sources":\["panel"\]/);
    const type = { 'content-type': 'application/json' };
    const post = (body: string, headers: Record<string, string>) =>
      fetch(`${url}/webhooks/panel`, { method: 'POST', headers: { ...type, ...headers }, body });
    const body = JSON.stringify({ type: 'alert.fired', token: TOKEN });
    assert.equal((await post(body, signed(body))).status, 202);
    assert.equal((await post(body, {})).status, 401);
    const headers = { ...type, ...signed(body), host: 'x', 'content-length': String(body.length) };
    const lines = Object.entries(headers).map((header) => header.join(': '));
    const socket = dial(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    const answer = text(socket).catch(() => 'cut off');
    socket.write(`POST /webhooks/panel HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body.slice(0, 9)}`);
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await eventually('half the delivery', async () => (await metrics()).includes('received_total{source="panel"} 3'));
    child.kill('SIGTERM');
    await eventually('the log line', () => output.stderr.includes('stopping'));
    socket.write(body.slice(9));
    assert.match(await answer, /^HTTP\/1\.1 202 /);
    const { code, stdout, stderr } = await finished;
    assert.deepEqual([code, stdout], [0, '']);
    for (const secret of [TOKEN, SECRET]) assert.ok(!stderr.includes(secret));
  });

  test('sandbox prints where it listens, answers, and exits 0 on SIGTERM', async () => {
    const { process: child, output, finished } = start(['sandbox', '--port', '0']);
    const [, url = '', token = ''] = await eventually('its address', () =>
      /^ready: BELAY_API_URL=(\S+) BELAY_API_TOKEN=(\S+)$/m.exec(output.stdout),
    );
    const headers = { authorization: `Bearer ${token}` };
    const created = await fetch(`${url}/v1/servers/s1/backups`, { method: 'POST', headers });
    assert.equal(typeof ((await created.json()) as { id: unknown }).id, 'string');
    child.kill('SIGTERM');
    assert.equal((await finished).code, 0);
  });

  test('codec-server logs where it listens, answers no one without its token, and exits 0 on SIGTERM', async () => {
    const tokenFile = join(await tempFolder(), 'token');
    writeFileSync(tokenFile, `${TOKEN}\n`);
    const env = { BELAY_CODEC_KEYS_FILE: await newKeyFile() };
    const args = ['codec-server', '--port', '0', '--token-file', tokenFile];
    const { process: child, output, finished } = start(args, env);
    const line = await eventually('its address', () => /^.*"listening".*$/m.exec(output.stderr)?.[0]);
    const { url } = JSON.parse(line) as { url: string };
    const headers = { 'content-type': 'application/json' };
    const decode = (more: Record<string, string>) =>
      fetch(`${url}/decode`, { method: 'POST', headers: { ...headers, ...more }, body: '{"payloads":[]}' });
    assert.equal((await decode({})).status, 401);
    assert.equal((await decode({ authorization: `Bearer ${TOKEN}` })).status, 200);
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    assert.equal(code, 0, stderr);
    assert.ok(!stderr.includes(TOKEN));
  });

  test('dev with a service and a Temporal serves runs, prints its addresses in one line, and ends with 0 on SIGTERM', async () => {
    const env = {
      ...temporalEnv(await newPlace()),
      ...{ BELAY_HOME: await tempFolder(), BELAY_API_URL: on.sandbox.url, BELAY_API_TOKEN: TOKEN },
    };
    const args = ['dev', '--json', '--webhook-port', '0', '--board-port', '0'];
    const { process: child, output, finished } = start(args, env);
    const line = await eventually('its line', () => /^\{.*\}$/m.exec(output.stdout)?.[0]);
    const ready = JSON.parse(line) as Record<string, string>;
    assert.deepEqual(Object.keys(ready), ['temporal', 'ui', 'webhooks', 'board', 'service']);
    assert.equal(ready.service, on.sandbox.url);
    assert.equal((await fetch(`${ready.board}/status.json`)).status, 200);
    const ran = await run(['backup', '--server', fresh('s'), ...BACKUP_PACE, '--json'], env);
    assert.equal(ran.code, 0, ran.stderr);
    const tree = descendants(child.pid ?? 0);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await finished;
    assert.equal(code, 0, stderr);
    assert.ok(!(stdout + stderr).includes(TOKEN));
    await gone(tree);
  });
});
