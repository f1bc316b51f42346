/** `belay gates try`, against a server that answers as Prometheus does, and with a page. */
import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runInProcess } from '../../support/in-process.ts';
import { tempFolder } from '../../support/temporal.ts';

const VALUES: Record<string, string[]> = { good: ['0.004'], bad: ['0.004', '0.5'], none: [] };

let server: Server;
let config: string;
const asked: string[] = [];

before(async () => {
  server = createServer(({ url = '', headers }, response) => {
    if (url === '/smoke') return void response.end(JSON.stringify({ ok: headers['x-key'] === 'k', rate: 0.02 }));
    const query = new URL(url, 'http://prometheus').searchParams.get('query') ?? '';
    asked.push(query);
    const values = VALUES[query.split('{')[0] ?? ''] ?? [];
    const result = values.map((value, index) => ({ metric: { instance: `i${index}` }, value: [0, value] }));
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gates = Object.keys(VALUES).map(
    (name) => `  ${name}: { prometheus: '${url}', query: '${name}{host=~"$hosts"}', max: 0.01 }`,
  );
  config = join(await tempFolder(), 'belay.yaml');
  writeFileSync(
    config,
    `fleets: { shop: { servers: { 12: { sites: [34] }, 13: { sites: [35] } } } }
sites: { 34: { url: https://shop.example.com } }
gates:
${gates.join('\n')}
  dead: { prometheus: 'http://127.0.0.1:1', query: good, max: 0.01 }
  smoke: { url: '${url}/smoke', requestHeaders: { x-key: k }, json: { ok: true } }
  slow: { url: '${url}/smoke', value: rate, max: 0.01 }
  silent: { url: '${url}/smoke', json: { state: up } }
rollouts: { steady: { fleet: shop, waves: [{ name: canary, servers: 1, after: { gates: [good] } }] } }
`,
  );
});
after(() => {
  server.close();
});

const tryGate = (...args: string[]) => runInProcess(['gates', 'try', ...args], { BELAY_CONFIG: config });

describe('belay gates try', () => {
  for (const [name, code, text] of [
    ['good', 0, /^good: 0\.004 \(max 0\.01\)/m],
    ['bad', 1, /^bad: 0\.5 > 0\.01 of \{instance="i1"\}/m],
    ['none', 4, /no data: no series/],
    ['dead', 4, /^not measured: no answer \(ECONNREFUSED\)/m],
    ['smoke', 0, /^good: as expected/m],
    ['slow', 1, /^bad: 0\.02 > 0\.01 of rate/m],
    ['silent', 4, /no data: state is missing, expected up/],
  ] as const) {
    test(`measures once and exits with ${code} for the gate ${name}`, async () => {
      const finished = await tryGate(name, '--wave', 'canary');
      assert.equal(finished.code, code, finished.stderr);
      assert.match(finished.stdout, text);
    });
  }

  test('asks for the hosts of the wave, and prints one document with --json', async () => {
    const { code, stdout } = await tryGate('good', '--wave', 'canary', '--json');
    const { state, value, error } = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([code, state, value, error], [0, 'good', '0.004', null]);
    assert.match(asked.at(-1) ?? '', /^good\{host=~"shop\\\\.example\\\\.com"\}$/);
  });

  test('names the gates of the file for one that there is not', async () => {
    const { stderr } = await tryGate('errors');
    assert.match(stderr, /belay\.yaml has no gate errors; it has good, bad, none, dead, smoke, slow, silent$/m);
  });

  test('says if the wave does not have the gate, and which wave has it', async () => {
    for (const [args, expected, text] of [
      [['good'], 0, /^gate good after wave canary of rollout steady$/m],
      [['good', '--rollout', 'steady'], 0, /^gate good after wave canary of rollout steady$/m],
      [
        ['good', '--wave', 'remaining'],
        4,
        /^gate good, measured for wave remaining of rollout steady, which does not have it: it is after wave canary of rollout steady$/m,
      ],
      [
        ['smoke'],
        0,
        /^gate smoke, measured for wave canary of rollout steady, which does not have it: no wave has it$/m,
      ],
    ] as const) {
      const { code, stdout, stderr } = await tryGate(...args);
      assert.equal(code, expected, stderr);
      assert.match(stdout, text);
    }
  });

  test('lists the waves or rollouts that there are for a name that is none of them', async () => {
    const wave = await tryGate('good', '--wave', 'canaries');
    assert.match(
      wave.stderr,
      /no wave canaries; it has wave canary of rollout steady, wave remaining of rollout steady$/m,
    );
    const rollout = await tryGate('good', '--rollout', 'unsteady');
    assert.match(rollout.stderr, /no rollout unsteady; it has steady$/m);
  });

  test('is an error for a gate or a wave that there is not', async () => {
    for (const args of [['nosuch'], ['good', '--wave', 'nosuch'], ['good', '--rollout', 'nosuch']]) {
      const { code, stderr } = await tryGate(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /nosuch/);
    }
  });
});
