import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { connect, type Belay } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { resultOf } from '../../support/outcome.ts';
import type { Started } from '../../support/processes.ts';
import { TOKEN } from '../../support/world.ts';
import { startOwnWorker } from './own-worker.ts';

const DOCUMENT = new URL('../../../docs/reference/metrics.md', import.meta.url);
const QUICK = { intervalMs: 1_000, tries: 30 };

let worker: Started;
let url: string;
let sandbox: Sandbox;
let belay: Belay;
let tokenFile: string;

const statusOf = async (path: string) => (await fetch(url + path).catch(() => null))?.status ?? null;
const scrape = async () => (await fetch(`${url}/metrics`)).text();
const namesIn = (text: string) => new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));

before(async () => {
  const own = await startOwnWorker();
  ({ worker, url, sandbox, tokenFile } = own);
  belay = await connect({ connection: own.connection, namespace: own.place.namespace });
});

describe('a worker with an address for metrics', () => {
  test('is alive and not ready until the service accepts its token, and then polls without another warning', async () => {
    const rejected = /not ready: the service rejects the API token.*trying again in/;
    await eventually('a refusal', () => rejected.test(worker.output.stderr));
    assert.deepEqual([await statusOf('/healthz'), await statusOf('/readyz')], [200, 503]);
    assert.ok(!worker.output.stderr.includes('"polling"'));
    await writeFile(tokenFile, TOKEN);
    await eventually('ready', async () => (await statusOf('/readyz')) === 200);
    assert.equal(await statusOf('/healthz'), 200);
    const warnings = worker.output.stderr.split('\n').filter((line) => /"level":[4-6]0/.test(line));
    assert.deepEqual(
      warnings.filter((line) => !line.includes('not ready')),
      [],
    );
  });

  test('counts runs, requests and polls, and its metrics are those of the documentation', async () => {
    sandbox.script({ site: 'd1' }, { durationMs: 500, ends: 'failed' });
    sandbox.script({ site: 'd2' }, { durationMs: 500 });
    const runs = [
      await belay.start({ serverId: 's1', siteIds: ['d1'], backup: QUICK, deploy: QUICK }),
      await belay.start({ siteIds: ['d2'], deploy: QUICK }),
    ];
    const outcomes = await Promise.all(runs.map((run) => resultOf(run).then(({ outcome }) => outcome)));
    const text = await scrape();
    for (const line of [
      `belay_runs_total{type="backupThenDeploy",outcome="${outcomes[0]}"`,
      'belay_runs_total{type="deployOnly",outcome="completed",error_type=""} 1',
      'belay_triggers_total{operation="deployment",effect="accepted"} 2',
      'belay_polls_total{operation="backup",result="answered"}',
      'belay_service_request_seconds_bucket{le="60",method="GET",status_class="2xx"}',
      'belay_token_accepted 1',
    ])
      assert.ok(text.includes(line), `${line}\n${text}`);

    const scraped = [...namesIn(text)].filter((name) => name.startsWith('belay_'));
    const documented = [...(await readFile(DOCUMENT, 'utf8')).matchAll(/^\| `(belay_(?!webhooks)\w+)`/gm)];
    assert.deepEqual(scraped.sort(), documented.map(([, name]) => name).sort());
    assert.ok(namesIn(text).has('temporal_workflow_task_schedule_to_start_latency_seconds'));
  });

  test('logs each request, operation and run once, with their ids and without the token of a task', async () => {
    const ends = () => worker.output.stderr.split('"run ended"').length - 1;
    await eventually('the ends of both', () => ends() >= 2 && worker.output.stderr.endsWith('\n'));
    const lines = worker.output.stderr
      .split('\n')
      .filter((line) => line.includes('"workflowId"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const of = (site: string, msg: string) => lines.filter((it) => it.site === site && it.msg === msg);
    assert.equal(of('d2', 'the service accepted the request').length, 1);
    const [ended, ...more] = of('d2', 'operation ended');
    assert.deepEqual(more, []);
    assert.ok(ended !== undefined);
    const { workflowId, operation, outcome } = ended;
    assert.deepEqual(
      { workflowId, operation, outcome },
      { workflowId: 'deploy-site:d2', operation: 'deployment', outcome: 'completed' },
    );
    assert.equal(lines.filter((it) => it.msg === 'run ended').length, 2);
    assert.ok(!worker.output.stderr.includes('taskToken'));
    assert.ok(!worker.output.stderr.includes(TOKEN));
  });

  test('sees its token rejected', async () => {
    sandbox.setToken('another');
    await belay.start({ siteIds: ['d3'], deploy: QUICK });
    await eventually('rejected', async () => (await scrape()).includes('belay_token_accepted 0'));
    sandbox.setToken(TOKEN);
  });
});
