/** Traces, as a collector gets them from the programs. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { RunResult } from '../../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { startCollector, type CollectedSpan } from '../../support/collector.ts';
import { DEPLOY_PACE, PACE } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { literalService } from '../../support/literal.ts';
import { start, startWebhooks, startWorkerProcess, type Started } from '../../support/processes.ts';
import { runInProcess } from '../../support/in-process.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

const HOUR = 3_600_000;
const runOn = (server: string) => ['run', '--server', server, '--site', `site-of-${server}`, '--json', ...PACE];

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({
    token: TOKEN,
    defaults: { backup: { durationMs: 300 }, deployment: { durationMs: 300 } },
  });
  atEnd(() => sandbox.close());
});

/** The environment of all programs, and what only workers need. */
async function environments(
  endpoint: string,
): Promise<{ env: Record<string, string>; service: Record<string, string> }> {
  const env = { ...temporalEnv(await newPlace()), OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  return { env, service: { ...env, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN } };
}

async function end({ process, finished }: Started, signal: NodeJS.Signals): Promise<string> {
  process.kill(signal);
  return (await finished).stderr;
}

describe('traces', { concurrency: 2 }, () => {
  // The worker that takes the first run over handles the others, too.
  describe('of one worker', { concurrency: 1 }, () => {
    let collector: Awaited<ReturnType<typeof startCollector>>;
    let env: Record<string, string>;
    let worker: Started;
    const named = (name: string, traceId: string) =>
      eventually(name, () => collector.spans.find((it) => it.name === name && it.traceId === traceId));

    let ran: RunResult;

    before(async () => {
      collector = await startCollector();
      const environment = await environments(collector.url);
      env = environment.env;
      sandbox.script({ server: 's1' }, { durationMs: HOUR });
      const channel = await literalService((_request, response) => response.writeHead(200).end());
      const config = join(await tempFolder(), 'belay.yaml');
      await writeFile(config, 'notify: { on: all, targets: { ops: { env: CHANNEL } } }\n');
      const ofWorker = {
        ...environment.service,
        BELAY_CONFIG: config,
        CHANNEL: `${channel.url}/channel-canary`,
        BELAY_ALLOW_HTTP: '1',
      };
      const first = await startWorkerProcess(ofWorker);
      const run = start(runOn('s1'), env);
      await eventually('reads in the trace', () => collector.spans.some(({ name }) => name === 'readBackup'));
      await end(first, 'SIGKILL');
      worker = await startWorkerProcess(ofWorker);
      sandbox.finish({ server: 's1' }, 'completed');
      const { code, stdout, json } = await run.finished;
      assert.equal(code, 0, stdout);
      ran = json();
    });

    test('a failed run and what the service answered are errors of the trace', async () => {
      sandbox.fault({ route: 'deploy', target: 'a2', answer: { kind: 'status', code: 422 } });
      const { code, stdout, json } = await runInProcess(['deploy', '--site', 'a2', '--json', ...DEPLOY_PACE], env);
      assert.equal(code, 6, stdout);
      const traceId = json().runId!.replaceAll('-', '');
      const [run, trigger] = [await named('deployOnly', traceId), await named('triggerDeployment', traceId)];
      assertHas(run, { outcome: 'not_started', errorType: 'Refused' });
      assertHas(trigger, { site: 'a2', outcome: 'Refused', 'http.response.status_code': 422 });
      assert.deepEqual([run.failed, trigger.failed], [true, true]);
    });

    test('the reads of a pooled wait are spans of its operation', async () => {
      sandbox.script({ site: 'a4' }, { durationMs: HOUR });
      const finished = runInProcess(['deploy', '--site', 'a4', '--waits', 'pooled', '--json', ...DEPLOY_PACE], env);
      const isPooled = ({ name, attributes }: CollectedSpan) =>
        name === 'readLatestDeployment' && attributes.activity === 'pollWhileInProgress';
      const read = await eventually('a pooled read', () => collector.spans.find(isPooled));
      sandbox.finish({ site: 'a4' }, 'completed');
      const { code, stdout, json } = await finished;
      assert.equal(code, 0, stdout);
      const traceId = json().runId!.replaceAll('-', '');
      const parent = await named('deploySite', traceId);
      assert.deepEqual([read.parentSpanId, read.traceId], [parent.spanId, traceId]);
      const operation = { operation: 'deployment', site: 'a4' };
      assertHas(read, { ...operation, outcome: 'answered', 'http.response.status_code': 200 });
    });

    test('an event is one trace of the receiver and of the worker that handles it', async () => {
      const receiver = await startWebhooks(env, '--unverified');
      const body = JSON.stringify({ type: 'backup.completed', server_id: 's9', backup_id: 'b9' });
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${receiver.url}/webhooks/panel`, { method: 'POST', headers, body });
      assert.equal(status, 202);
      const of = (name: string) => eventually(name, () => collector.spans.find((it) => it.name === name));
      // The end of a program waits only a second for its last spans.
      const [started, handled] = [await of('start handleEvent'), await of('wakeWaiters')];
      await end(receiver, 'SIGTERM');
      assert.deepEqual([started.service, handled.service], ['belay-webhooks', 'belay-worker']);
      assert.equal(started.traceId, handled.traceId);
    });

    test('a run is one trace of the client, two workers, of which one is killed, and a notification', async () => {
      const { runId, workflowId } = ran;
      await named('sendNotification', runId!.replaceAll('-', ''));
      // It exports what is left.
      await end(worker, 'SIGTERM');
      checkRun(collector.spans, { runId: runId!, workflowId: workflowId! });
      assert.doesNotMatch(collector.text(), new RegExp(`${TOKEN}|canary`));
    });
  });

  test('a collector that is down or never answers fails and delays no run, keeps no program from ending, and is reported once', async () => {
    const port = await lastingPort();
    const { env, service } = await environments(`http://127.0.0.1:${port}`);
    const worker = await startWorkerProcess(service);
    const runs = [await start(runOn('s3'), env).finished];
    await eventually('the line', () => worker.output.stderr.includes('traces cannot be exported'));
    const collector = await startCollector(port);
    collector.hang();
    runs.push(await start(runOn('s3'), env).finished);
    for (const { code, stdout, stderr } of runs)
      assert.deepEqual([code, stderr.includes('OTLP')], [0, false], stdout + stderr);
    const log = await end(worker, 'SIGTERM');
    assert.equal(worker.process.exitCode, 0);
    assert.ok(collector.requests() > 0);
    assert.equal(log.split('traces cannot be exported').length, 2, log);
    assert.equal(began(sandbox, 'backup', 's3').length, 2);
  });

  test('an address that is none is a mistake of the configuration', async () => {
    const { code, stderr } = await runInProcess(['list'], { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' });
    assert.equal(code, 2);
    assert.match(stderr, /OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:/);
  });
});

function assertHas(span: CollectedSpan | undefined, expected: Record<string, string | number>): void {
  const { attributes = {} } = span ?? {};
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, attributes[name]])), expected);
}

function checkRun(all: readonly CollectedSpan[], ids: { runId: string; workflowId: string }): void {
  const spans = all.filter(({ traceId }) => traceId === ids.runId.replaceAll('-', ''));
  const named = (name: string) => spans.filter((it) => it.name === name);
  const [root] = named('backupThenDeploy');
  assert.deepEqual(
    [root?.parentSpanId, root?.service, root?.failed, root?.attributes.outcome],
    [null, 'belay-worker', false, 'completed'],
  );
  assert.deepEqual([root?.attributes.runId, root?.attributes.workflowId], [ids.runId, ids.workflowId]);
  // Every other span has its place in the tree.
  const known = new Set(spans.map(({ spanId }) => spanId));
  assert.deepEqual(
    spans.filter((it) => it !== root && !known.has(it.parentSpanId ?? '')),
    [],
  );
  const [started] = named('start backupThenDeploy');
  assert.deepEqual([started?.service, started?.parentSpanId], ['belay', root?.spanId]);
  for (const [name, post, status, read, attributes] of [
    ['backupServer', 'createBackup', 201, 'readBackup', { operation: 'backup', server: 's1' }],
    ['deploySite', 'triggerDeployment', 200, 'readLatestDeployment', { operation: 'deployment', site: 'site-of-s1' }],
  ] as const) {
    const [operation] = named(name);
    assertHas(operation, { ...attributes, outcome: 'completed' });
    assert.equal(operation?.parentSpanId, root?.spanId);
    const [trigger] = named(post);
    assert.equal(trigger?.parentSpanId, operation?.spanId);
    assertHas(trigger, { ...attributes, outcome: 'accepted', 'http.response.status_code': status });
    const reads = named(read).filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
    assert.ok(reads.length > 0, name);
  }
  const [sent] = named('sendNotification');
  assert.deepEqual([sent?.parentSpanId, sent?.failed], [root?.spanId, false]);
}
