import assert from 'node:assert/strict';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serviceChecks } from '../../src/features/doctor/service.ts';
import { problemOfStandardSecret } from '../../src/config/environment/secrets.ts';
import { claimHome } from '../../src/dev/stack.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';

test('only its user may look into the folder of a dev server', async () => {
  const home = join(await mkdtemp(join(tmpdir(), 'belay-test-')), '.belay');
  await claimHome(home);
  assert.equal((await stat(home)).mode & 0o777, 0o700);
});

for (const [token, state] of [
  ['t', 'warning'],
  ['1234567', 'warning'],
  ['12345678', 'ok'],
] as const) {
  test(`doctor finds a token of ${token.length} characters ${state}, and does not print it`, async () => {
    const own = process.env;
    process.env = { BELAY_API_URL: 'https://panel.example', BELAY_API_TOKEN: token };
    try {
      const finding = await serviceChecks()[0]!.run();
      assert.equal(finding.state, state);
      assert.ok(token === 't' || !JSON.stringify(finding).includes(token));
    } finally {
      process.env = own;
    }
  });
}

test('doctor names the line of a variable that belay.yaml needs and that is not set', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'belay-test-')), 'belay.yaml');
  await writeFile(path, 'notify:\n  heartbeats:\n    nightly: { env: NIGHTLY_URL }\n');
  const own = process.env;
  process.env = { BELAY_API_URL: 'https://panel.example', BELAY_API_TOKEN: '12345678', BELAY_CONFIG: path };
  try {
    const message = `${path}:3: notify.heartbeats.nightly: the variable NIGHTLY_URL is not set: set it for this program`;
    await assert.rejects(serviceChecks()[0]!.run(), { message });
  } finally {
    process.env = own;
  }
});

const problemOf = (name: string) => validateRunInput('deployOnly', { siteIds: ['a1'], meta: { [name]: 'x' } });

for (const name of ['token', 'apiKey', 'API_KEY', 'dbPassword', 'deploy-key', 'clientSecret', 'GITHUB_TOKEN']) {
  test(`a note named ${name} is rejected`, () => {
    assert.match(problemOf(name) ?? '', /name of a secret/);
  });
}

for (const name of ['commit', 'key', 'tokens', 'secretary', 'monkey', 'build_key']) {
  test(`a note named ${name} is accepted`, () => {
    assert.equal(problemOf(name), null);
  });
}

for (const [secret, problem] of [
  [
    `whsec_${Buffer.from('too short').toString('base64')}`,
    /^the secret is too short: use whsec_ followed by the base64 of 24 to 64 bytes$/,
  ],
  [`whsec_${'a'.repeat(96)}`, /^the secret is too long/],
  ['a'.repeat(32), /^not a Standard Webhooks secret/],
  [`whsec_${Buffer.alloc(24, 'key').toString('base64')}`, null],
] as const) {
  test(`a secret of Standard Webhooks ${problem === null ? 'is taken' : `is refused: ${problem.source}`}`, () => {
    const found = problemOfStandardSecret(secret);
    if (problem === null) assert.equal(found, null);
    else assert.match(found ?? '', problem);
  });
}
