/** What a disaster strikes: workers in processes of their own, the sandbox behind a relay, and runs in flight. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { RunInput, RunResult } from '../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import type { Belay, Run } from '../../src/starter.ts';
import { superviseWorker, type SupervisedWorker } from '../model/workers.ts';
import { CLI } from '../support/processes.ts';
import { atEnd } from '../support/at-end.ts';
import { connectTo } from '../support/connect.ts';
import { eventually } from '../support/eventually.ts';
import { fresh } from '../support/fresh.ts';
import { posts } from '../support/journal.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { resultOf } from '../support/outcome.ts';
import { relayTo, type Relay } from '../support/relay.ts';
import { startTemporal, tempFolder } from '../support/temporal.ts';
import { belayOn, TASK_QUEUE, temporalEnv } from '../support/world.ts';

/** Long enough for every disaster to strike a run in flight. */
const PACE = { intervalMs: 1_000, tries: 2_000 };

export interface Place {
  address: string;
  namespace: string;
}

export interface Stage extends Place {
  readonly belay: Belay;
  readonly sandbox: Sandbox;
  readonly relay: Relay;
  readonly tokenFile: string;
  readonly worker: SupervisedWorker;
  /** The environment of its workers. */
  readonly env: Record<string, string>;
  /** Deploys this many sites, each in a run of its own. Each had a deployment that failed. */
  readonly deploy: (count: number, more?: Partial<RunInput>) => Promise<Deploying[]>;
  /** The sum of a metric's series whose labels contain a text; null if there is none. */
  readonly metric: (name: string, labels?: string) => Promise<number | null>;
}

export interface Deploying {
  siteId: string;
  run: Run;
}

/** @param cli the program of its workers */
export async function openStage(
  given?: Place,
  { cli = CLI, more = {} }: { cli?: string; more?: Record<string, string> } = {},
): Promise<Stage> {
  const place = given ?? { address: (await startTemporal()).address, namespace: 'default' };
  const token = randomBytes(16).toString('hex');
  const sandbox = await startSandbox({ token });
  atEnd(() => sandbox.close());
  const relay = await relayTo(sandbox.url);
  const tokenFile = join(await tempFolder(), 'token');
  await writeFile(tokenFile, token);
  const metrics = `127.0.0.1:${await lastingPort()}`;
  const service = { BELAY_API_URL: relay.url, BELAY_API_TOKEN_FILE: tokenFile };
  const env = { ...temporalEnv(place), ...service, BELAY_METRICS_ADDRESS: metrics, ...more };
  const worker = superviseWorker(cli, env);
  atEnd(() => worker.close());
  await worker.ready();
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  const client = new Client({ connection, namespace: place.namespace });
  const belay = await belayOn({ client, namespace: place.namespace }, TASK_QUEUE);
  return {
    ...place,
    ...{ belay, sandbox, relay, tokenFile, worker, env },
    deploy: (count, input) => Promise.all(Array.from({ length: count }, () => deployOne({ belay, sandbox }, input))),
    metric: (name, labels = '') => metricAt(`http://${metrics}/metrics`, name, labels),
  };
}

async function deployOne({ belay, sandbox }: Pick<Stage, 'belay' | 'sandbox'>, more: Partial<RunInput> = {}) {
  const siteId = fresh('a');
  const words = { words: ['building'] };
  sandbox.script({ site: siteId }, { durationMs: 0, ends: 'failed' }, { ...words, ends: 'never' });
  sandbox.act({ site: siteId });
  return { siteId, run: await belay.start({ siteIds: [siteId], deploy: PACE, ...more }) };
}

/** Resolves when the service has taken up the deployments. */
export const inFlight = ({ sandbox }: Stage, all: readonly Deploying[]): Promise<true> =>
  eventually('the deployments', () => all.every(({ siteId }) => postsOf(sandbox, siteId) > 0));

/** Ends the deployments at the service. */
export function finish({ sandbox }: Stage, all: readonly Deploying[]): void {
  for (const { siteId } of all) sandbox.finish({ site: siteId }, 'completed');
}

/** @throws AssertionError unless each run completed with exactly one request */
export async function completedOnce({ sandbox }: Stage, all: readonly Deploying[]): Promise<void> {
  for (const { siteId, run } of all) {
    const { outcome, error }: RunResult = await resultOf(run);
    assert.equal(outcome, 'completed', `${siteId}: ${error?.message}`);
    assert.equal(postsOf(sandbox, siteId), 1, siteId);
  }
}

const postsOf = (sandbox: Sandbox, siteId: string): number => posts(sandbox, `/v1/sites/${siteId}/deploy`).length;

async function metricAt(url: string, name: string, labels: string): Promise<number | null> {
  const text = await fetch(url).then(
    (response) => response.text(),
    () => '',
  );
  const series = text.split('\n').filter((line) => new RegExp(`^${name}(\\{|\\s)`).test(line) && line.includes(labels));
  return series.length === 0 ? null : series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
