/** Where histories are recorded: a real server, the sandbox, and workers in processes of their own. */
import { createServer } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { RunType } from '../../src/contract/names.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect, type Belay, type Run } from '../../src/starter.ts';
import { atEnd } from '../support/at-end.ts';
import { connectTo } from '../support/connect.ts';
import { startWorkerProcess, type Started } from '../support/processes.ts';
import { startTemporal, tempFolder } from '../support/temporal.ts';
import { TASK_QUEUE, temporalEnv, TOKEN } from '../support/world.ts';

/** Quick enough to record, and long enough that an operation has several reads. */
export const PACE = { intervalMs: 500, tries: 20 };
/** Sites with a check. */
export const CHECKED_SITES = ['checked', 'checked-down', 'checked-quick', 'checked-pooled'];
/** No deployment of this site is triggered. */
export const FROZEN_SITE = 'frozen';
/** Anyone may give this approval, and only those who ask for it need it. */
export const APPROVAL = 'audit';
export const HEARTBEAT = 'night';
/** It gets the start, too. */
export const MEASURED_HEARTBEAT = 'measured';
/** Its measurements are good, and those of the other one are bad. */
export const [GOOD_GATE, BAD_GATE] = ['errors', 'latency'];
/** It measures a page, which is good. */
export const PAGE_GATE = 'smoke';

export interface Stage {
  readonly belay: Belay;
  readonly client: Client;
  readonly sandbox: Sandbox;
  /** Starts a run at that pace. */
  readonly start: (input: RunInput, type?: RunType) => Promise<Run>;
  /** Kills the worker, and starts another one. */
  readonly replaceWorker: () => Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const { address } = await startTemporal();
  const place = { address, namespace: 'default' };
  const defaults = { backup: { durationMs: 1_200 }, deployment: { durationMs: 1_200 } };
  const sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  const service = {
    BELAY_API_URL: sandbox.url,
    BELAY_API_TOKEN: TOKEN,
    BELAY_CONFIG: await configurationFile(sandbox.url),
  };
  const env = { ...temporalEnv(place), ...service };
  let worker: Started = await startWorkerProcess(env);
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, ...place, taskQueue: TASK_QUEUE });
  return {
    belay,
    client: new Client({ connection, namespace: place.namespace }),
    sandbox,
    start: (input, type) => belay.start({ backup: PACE, deploy: PACE, ...input }, type === undefined ? {} : { type }),
    async replaceWorker() {
      worker.process.kill('SIGKILL');
      await worker.finished;
      worker = await startWorkerProcess(env);
    },
  };
}

async function configurationFile(sandboxUrl: string): Promise<string> {
  const [folder, chat] = [await tempFolder(), await startChat()];
  const [file, address] = [join(folder, 'belay.yaml'), join(folder, 'address')];
  await writeFile(address, chat);
  const lines = [
    `notify: { on: failed, targets: { ops: { file: ${address} } }, heartbeats: { ${HEARTBEAT}: { file: ${address} }, ${MEASURED_HEARTBEAT}: { kind: healthchecks, file: ${address} } } }`,
    'api: { app: { deploy: "/v1/apps/{id}/deploy", latest: "/v1/apps/{id}/deployments/latest" } }',
    `freezes: { stock: { from: 2020-01-01T00:00, to: 2120-01-01T00:00, for: { sites: [${FROZEN_SITE}] }, reason: inventory } }`,
    `approvals: { ${APPROVAL}: { proof: none, for: { sites: [no-site] } } }`,
    'gates:',
    ...[GOOD_GATE, BAD_GATE].map(
      (name) =>
        `  ${name}: { prometheus: '${new URL(chat).origin}', query: ${name}, max: 1, interval: 1s, tries: 3, inARow: 2 }`,
    ),
    `  ${PAGE_GATE}: { url: '${new URL(chat).origin}/smoke', json: { ok: true }, value: rate, max: 1, interval: 1s, tries: 3, inARow: 2 }`,
    'checks: { answers: { json: { status: ok }, commit: { json: commit }, interval: 1s, tries: 5 } }',
    'sites:',
    ...CHECKED_SITES.map((id) => `  ${id}: { url: '${sandboxUrl}/sites/${id}', check: answers, private: true }`),
  ];
  await writeFile(file, lines.join('\n'));
  return file;
}

/** Accepts every notification, answers as Prometheus does, and has a page for a gate. */
async function startChat(): Promise<string> {
  const server = createServer((request, response) => {
    const isQuery = request.url?.startsWith('/api/v1/query') === true;
    if (request.url === '/smoke') return void response.end(JSON.stringify({ ok: true, rate: 0.2 }));
    const answer = isQuery ? measured(request.url?.includes(BAD_GATE ?? '') === true ? '5' : '0') : 'ok';
    request.resume().on('end', () => response.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`;
}

const measured = (value: string): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result: [{ metric: {}, value: [0, value] }] } });
