import assert from 'node:assert/strict';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runChecks } from '../../src/cli/doctor-check.ts';
import { sitesCheck } from '../../src/features/site-checks/doctor.ts';
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

const NEEDED = {
  'notify.heartbeats.nightly': 'notify:\n  heartbeats:\n    nightly: { env: SECRET }\n',
  'gates.smoke.url': 'gates:\n  smoke:\n    url: { env: SECRET }\n    status: 200\n',
  'gates.errors.token': `gates:
  errors: { prometheus: 'http://p', query: up, min: 1,
    token: { env: SECRET } }\n`,
  'checks.answers.requestHeaders.x-key': `checks:
  answers:
    requestHeaders: { x-key: { env: SECRET } }
sites: { '34': { url: 'https://shop.example', check: answers } }\n`,
};

for (const [key, text] of Object.entries(NEEDED)) {
  test(`doctor names the line of ${key}, whose variable a worker needs and is not set`, async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'belay-test-')), 'belay.yaml');
    await writeFile(path, text);
    const env = { BELAY_API_URL: 'https://panel.example', BELAY_API_TOKEN: '12345678', BELAY_CONFIG: path };
    const message = `${path}:3: ${key}: the variable SECRET is not set: set it for this program`;
    const own = process.env;
    process.env = env;
    try {
      const reports = await runChecks([serviceChecks()[0]!, sitesCheck()], false, () => undefined);
      const failed = reports.filter(({ state }) => state === 'failed');
      assert.deepEqual(
        failed.map((it) => it.message),
        [message],
      );
    } finally {
      process.env = own;
    }
  });
}

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
