/** A worker process with a configuration, which starts before its service. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { start, type Started } from '../../support/processes.ts';
import { newPlace, type Place } from '../../support/shared-temporal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';
import type { Connection } from '@temporalio/client';

/** A secret of the check, and sites: one that is frozen, one that is not, and one that is checked. */
export const SECRET = 'canary-of-a-page-5f0c2b';
export const [FROZEN, FREE, CHECKED] = ['34', '35', '36'];

export const FREEZES = `freezes:
  stock: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, for: { sites: [${FROZEN}] }, reason: inventory }
`;

export interface OwnWorker {
  worker: Started;
  /** Of its health and metrics. */
  url: string;
  place: Place;
  connection: Connection;
  sandbox: Sandbox;
  /** Holds a token that the service refuses. */
  tokenFile: string;
  /** The environment of the next worker. */
  env: Record<string, string>;
  /** Writes the configuration of the workers. */
  configure: (freezes: string) => Promise<void>;
}

/** It waits for a token that the service accepts. */
export async function startOwnWorker(): Promise<OwnWorker> {
  const [place, folder, port] = [await newPlace(), await tempFolder(), await lastingPort()];
  const service = `http://127.0.0.1:${port}`;
  const url = `http://127.0.0.1:${await lastingPort()}`;
  const [tokenFile, secretFile] = [join(folder, 'token'), join(folder, 'secret')];
  await writeFile(tokenFile, 'stale');
  await writeFile(secretFile, `${SECRET}\n`);
  const BELAY_CONFIG = join(folder, 'workers.yaml');
  const configure = (freezes: string) => writeFile(BELAY_CONFIG, freezes + checks(service, secretFile));
  await configure(FREEZES);
  const env = { ...temporalEnv(place), BELAY_API_URL: service, BELAY_API_TOKEN_FILE: tokenFile, BELAY_CONFIG };
  const worker = start(['worker'], { ...env, BELAY_METRICS_ADDRESS: url.slice('http://'.length) });
  await eventually('it waits for the service', () => worker.output.stderr.includes('not ready'));
  const statuses = await Promise.all(['/healthz', '/readyz'].map(async (path) => (await fetch(url + path)).status));
  assert.deepEqual(statuses, [200, 503]);
  const defaults = { backup: { durationMs: 3_000 }, deployment: { durationMs: 0 } };
  const sandbox = await startSandbox({ token: TOKEN, port, defaults });
  atEnd(() => sandbox.close());
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  return { worker, url, place, connection, sandbox, tokenFile, env, configure };
}

const checks = (service: string, secretFile: string) => `
sites:
  '${CHECKED}': { url: '${service}/sites/${CHECKED}', check: answers, private: true }
checks:
  answers:
    path: /healthz
    json: { status: ok }
    commit: { json: commit }
    requestHeaders: { authorization: { file: '${secretFile}' } }
    interval: 1s
    tries: 600
`;
