/** Gates as belay.yaml has them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { planRollout } from '../../src/config/rollout-plan.ts';
import { HOUR_MS } from '../../src/contract/duration.ts';
import { policyOf } from '../../src/config/policy.ts';
import { requireGates } from '../../src/features/gates/worker.ts';
import { validateRolloutInput } from '../../src/request/input/rollout-input.ts';
import { readText } from '../support/configuration-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const text = (gate: string, follows = 'bake: 15m, gates: [errors]') => `fleets:
  shop:
    servers: { 12: { sites: [34] }, 13: { sites: [36] } }
sites: { 34: { url: 'https://shop.example.com:8443' }, 36: { url: https://api.example.com } }
gates:
  errors: { ${gate} }
rollouts:
  steady:
    fleet: shop
    waves: [{ name: canary, servers: 1, after: { ${follows} } }]
    onGates: { failed: pause, patience: 12h }
`;
const PROMETHEUS = 'prometheus: http://127.0.0.1:9090';
const GOOD = `${PROMETHEUS}, query: errors, max: 0.01`;

describe('gates in belay.yaml', () => {
  test('are measured 20 times, every 30 seconds, until five in a row are good', async () => {
    const { plan } = policyOf(await readText(folder, text(GOOD))).gate('errors')!;
    const { ruleHash, ...rest } = plan;
    assert.match(ruleHash, /^[0-9a-f]{12}$/);
    assert.deepEqual(rest, {
      ...{ name: 'errors', rule: { kind: 'prometheus', query: 'errors', max: 0.01 }, words: [] },
      ...{ initialDelayMs: 0, intervalMs: 30_000, tries: 20, inARow: 5, failures: 0, dryRun: false },
    });
  });

  test('are named by waves, and a rollout records what follows each of them', async () => {
    const planned = planRollout(await readText(folder, text(GOOD)), 'steady');
    assert.deepEqual(
      planned.waves.map(({ after: follows }) => follows),
      [{ bakeMs: 15 * 60_000, gates: ['errors'] }, undefined],
    );
    assert.deepEqual(planned.onGates, { failed: 'pause', patienceMs: 12 * HOUR_MS });
    assert.equal(validateRolloutInput({ ...planned, key: 'k' }), null);
  });

  test('read the address and the token for each measurement, and keep them out of their plan', async () => {
    const [address, token] = [join(folder, 'address'), join(folder, 'token')];
    await writeFile(address, 'http://127.0.0.1:9090/secret\n');
    await writeFile(token, 'first\n');
    const rest = `prometheus: { file: ${address} }, token: { file: ${token} }, query: errors, max: 1`;
    const { plan, place } = policyOf(await readText(folder, text(rest))).gate('errors')!;
    assert.deepEqual(await place(), {
      address: 'http://127.0.0.1:9090/secret',
      headers: { authorization: 'Bearer first' },
      isSecret: true,
    });
    await writeFile(token, 'second\n');
    assert.equal((await place()).headers['authorization'], 'Bearer second');
    assert.doesNotMatch(JSON.stringify(plan), /secret|first|second|9090/);
  });

  for (const [what, gate, key] of [
    ['a token', 'prometheus: http://prometheus:9090, token: { env: SECRET }, query: q, max: 1', 'prometheus'],
    ['a header', 'url: http://ci/smoke, requestHeaders: { x-key: { env: SECRET } }, status: 200', 'url'],
    ['an address that is a secret', 'prometheus: { env: ADDRESS }, query: q, max: 1', 'prometheus'],
  ] as const) {
    test(`send ${what} without TLS only to this machine, or with BELAY_ALLOW_HTTP`, async (t) => {
      const environment = process.env;
      t.after(() => (process.env = environment));
      process.env = { SECRET: 'abc', ADDRESS: 'http://prometheus:9090' };
      const found = policyOf(await readText(folder, text(gate))).gate('errors')!;
      await assert.rejects(found.place(), {
        message: `gates.errors.${key}: the address must begin with https://; for http://, set BELAY_ALLOW_HTTP=1`,
      });
      await assert.rejects(requireGates(await readText(folder, text(gate))), /BELAY_ALLOW_HTTP=1/);
      process.env['BELAY_ALLOW_HTTP'] = '1';
      assert.match((await found.place()).address, /^http:/);
      process.env = { SECRET: 'abc', ADDRESS: 'http://127.0.0.1:9090' };
      const here = policyOf(await readText(folder, text(gate.replace(/prometheus:9090|ci/, '127.0.0.1'))));
      assert.match((await here.gate('errors')!.place()).address, /^http:/);
    });
  }

  test('ask an address that is no secret without TLS, if they send none', async () => {
    const open = 'prometheus: http://prometheus:9090, query: q, max: 1';
    const found = policyOf(await readText(folder, text(open))).gate('errors')!;
    assert.deepEqual(await found.place(), { address: 'http://prometheus:9090', headers: {} });
  });

  test('know the hosts of sites, without their ports', async () => {
    const { hostsOf } = policyOf(await readText(folder, text(GOOD)));
    assert.deepEqual(hostsOf(['34', '36', '99']), ['shop.example.com', 'api.example.com']);
  });

  test('are part of the hash of the policy', async () => {
    const [one, other] = [text(GOOD), text(GOOD.replace('0.01', '0.02'))];
    assert.notEqual(policyOf(await readText(folder, one)).hash, policyOf(await readText(folder, other)).hash);
  });

  for (const [what, gate, problem] of [
    ['without a limit', `${PROMETHEUS}, query: q`, /gates\.errors: write min:, max: or both/],
    ['with no good value', `${PROMETHEUS}, query: q, min: 2, max: 1`, /min is more than max/],
    ['with a longer row than tries', `${GOOD}, tries: 3, inARow: 4`, /errors\.inARow: it is more than the 3 tries/],
    ['that cannot fail', `${GOOD}, tries: 3, failures: 3`, /errors\.failures: it is not below the 3 tries/],
    ['with a word that there is not', `${PROMETHEUS}, query: '$server', max: 1`, /errors\.query: there is no \$server/],
    [
      'with a password in the address',
      `prometheus: 'http://a:b@c', query: q, max: 1`,
      /errors\.prometheus: write an address like .* without user or query/,
    ],
    ['with a token in the file', `${GOOD}, token: abc`, /errors\.token: do not write a secret/],
  ] as const) {
    test(`are refused ${what}`, async () => {
      await assert.rejects(readText(folder, text(gate)), problem);
    });
  }

  for (const [what, follows, problem] of [
    ['a gate that there is not', 'gates: [other]', /waves\.0\.after\.gates\.0: there is no gate other/],
    ['a gate twice', 'gates: [errors, errors]', /gates\.1: duplicate gate errors/],
    ['a bake of eight days', 'bake: 192h', /after\.bake: write a duration/],
  ] as const) {
    test(`may not follow a wave as ${what}`, async () => {
      await assert.rejects(readText(folder, text(GOOD, follows)), problem);
    });
  }
});

describe('what follows the waves of a rollout', () => {
  const input = (more: object, follows: unknown = undefined) => ({
    ...{ name: 'r', fleet: 'f', key: 'k', maxAtOnce: 1, maxFailures: 0, onFailures: 'stop', ...more },
    waves: [{ name: 'all', after: follows, targets: [{ serverId: '12' }] }],
  });

  for (const [problem, more, follows] of [
    ['waves[0].after: is not an object', {}, 'x'],
    ['waves[0].after.bakeMs: must be a whole number from 0 to 604800000', {}, { bakeMs: -1 }],
    ['waves[0].after.gates: is not a list', {}, { gates: 'x' }],
    ['waves[0].after.gates[1]: is not a name, or is there twice', {}, { gates: ['a', 'a'] }],
    ['onGates: is not an object', { onGates: 1 }, undefined],
    ['onGates.failed: must be pause or stop', { onGates: { failed: 'x' } }, undefined],
    ['onGates.patienceMs: must be a whole number from 300000 to 604800000', { onGates: { patienceMs: 1 } }, undefined],
    [null, { onGates: { failed: 'pause' } }, { bakeMs: 0, gates: ['a'] }],
  ] as const) {
    test(`${problem === null ? 'may be in its input' : `is refused: ${problem}`}`, () => {
      assert.equal(validateRolloutInput(input(more, follows)), problem);
    });
  }
});
