/**
 * Gates against a real Prometheus, which scrapes a target that this process serves. What it answers has to be read as the
 * tests of gates assume.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { measure } from '../../src/features/gates/worker-measure.ts';
import { readPage } from '../../src/site-check/index.ts';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { MissingProgram } from '../support/missing-program.ts';
import { tempFolder } from '../support/temporal.ts';

const METRICS = `shop_errors{server="a.1"} 0.5
shop_errors{server="b\\"x"} 7
shop_none NaN
shop_endless +Inf
`;

const WORDS = { hosts: [], sites: [], servers: ['a.1'], wave: ['canary'], seconds: 60 };

/** @returns how many questions were asked */
export async function checkGates(): Promise<number> {
  const address = await startPrometheus();
  const ask = (query: string, limits = { max: 1 } as object, servers = WORDS.servers) =>
    measure({ kind: 'prometheus', query, ...limits }, { ...WORDS, servers }, { address, headers: {} }, readPage);
  await eventually('the first scrape', async () => ((await ask('shop_errors')).state === 'none' ? null : true));
  const cases = [
    [await ask('shop_errors{server=~"$servers"}'), 'good', '0.5 (max 1) of shop_errors{'],
    [await ask('shop_errors{server=~"$servers"}', { max: 1 }, ['b"x']), 'bad', '7 > 1 of shop_errors{'],
    [await ask('shop_errors{server=~"$servers"}', { max: 1 }, ['a?1']), 'none', 'no series'],
    [await ask('shop_errors'), 'bad', '7 > 1'],
    [await ask('scalar(shop_none)'), 'none', 'NaN'],
    [await ask('shop_none'), 'none', 'NaN'],
    [await ask('shop_endless'), 'bad', '+Inf > 1'],
    [await ask('vector(0) / vector(0)'), 'none', 'NaN'],
    [await ask('sum(('), 'refused', 'refused (400)'],
    [await ask('shop_errors[5m]'), 'refused', 'matrix'],
    [await ask('count_over_time(up[${seconds}s])', { min: 1 }), 'good', 'min 1'],
    [await ask('scalar(up)', { min: 1, atLeast: { query: 'count(up)', min: 9 } }), 'none', 'atLeast is 1'],
  ] as const;
  for (const [measured, state, text] of cases) {
    assert.equal(measured.state, state, JSON.stringify(measured));
    assert.ok(measured.text.includes(text), JSON.stringify(measured));
  }
  return cases.length;
}

async function startPrometheus(): Promise<string> {
  const target = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(METRICS);
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  atEnd(async () => {
    target.closeAllConnections();
    await promisify(target.close.bind(target))();
  });
  const folder = await tempFolder();
  const config = join(folder, 'prometheus.yml');
  const { port } = target.address() as AddressInfo;
  const targets = [`127.0.0.1:${port}`];
  const jobs = [{ job_name: 'shop', scrape_interval: '1s', static_configs: [{ targets }] }];
  await writeFile(config, JSON.stringify({ scrape_configs: jobs }));
  const listens = `127.0.0.1:${await lastingPort()}`;
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`];
  const server = spawn('prometheus', [...args, `--web.listen-address=${listens}`], { stdio: 'ignore' });
  const failed = once(server, 'error').then(() => true);
  atEnd(async () => {
    if (server.pid === undefined || server.exitCode !== null) return;
    server.kill();
    await once(server, 'exit');
  });
  const isUp = eventually('Prometheus', async () => {
    const answer = await fetch(`http://${listens}/-/ready`).catch(() => null);
    return answer?.ok === true ? true : null;
  }).then(() => false);
  if (await Promise.race([failed, isUp]))
    throw new MissingProgram("prometheus is missing: install Prometheus, such as Debian's package");
  return `http://${listens}`;
}
