/** Credentials that cannot be used, and what the programs then report. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createAuthority } from '../../support/certificates.ts';
import {
  startCertifiedCloud,
  startKeyedCloud,
  type CloudWithCertificates,
  type CloudWithKeys,
} from '../../support/cloud.ts';
import { runInProcess } from '../../support/in-process.ts';

interface Check {
  name: string;
  state: string;
  message: string;
  remedy?: string;
}

const DAY_MS = 86_400_000;

async function doctor(env: Record<string, string>): Promise<(name: string) => Check> {
  const { stdout } = await runInProcess(['doctor', '--json'], env);
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return (name) => checks.find((it) => it.name === name)!;
}

const CREDENTIALS = "Temporal's credentials";

describe('credentials that cannot be used', { concurrency: 1 }, () => {
  let cloud: CloudWithCertificates;
  let keyed: CloudWithKeys;
  before(async () => {
    cloud = await startCertifiedCloud();
    keyed = await startKeyedCloud('good-key-canary');
  });

  test('doctor accepts a certificate that lasts, and warns 21 days before its end', async () => {
    cloud.put(cloud.clients.issue('belay', { endsMs: Date.now() + 22.5 * DAY_MS }));
    const lasting = (await doctor(cloud.env))(CREDENTIALS);
    assert.equal(lasting.state, 'ok');
    assert.match(lasting.message, /^a client certificate until \d{4}-\d\d-\d\d, 22 days from now$/);
    cloud.put(cloud.clients.issue('belay', { endsMs: Date.now() + 20.5 * DAY_MS }));
    const check = await doctor(cloud.env);
    assert.deepEqual([check(CREDENTIALS).state, check('Temporal').state], ['warning', 'ok']);
    assert.match(check(CREDENTIALS).remedy ?? '', /put a new certificate and its key in their files/);
  });

  test('an expired certificate is named by every command, and Temporal is not asked', async () => {
    cloud.put(cloud.clients.issue('belay', { endsMs: Date.now() - DAY_MS }));
    cloud.front.count();
    const named = new RegExp(
      `the client certificate in ${cloud.secret.path('tls.crt')} expired on \\d{4}-\\d\\d-\\d\\d`,
    );
    const { code, stderr } = await runInProcess(['list'], cloud.env);
    assert.equal(code, 2);
    assert.match(stderr, named);
    assert.deepEqual(cloud.front.count(), {});
    assert.match((await doctor(cloud.env))(CREDENTIALS).message, named);
  });

  test('doctor tells a front with another name, of another authority and without TLS apart', async () => {
    const other = await startCertifiedCloud('temporal.example');
    const problemIn = async (env: Record<string, string>) => {
      const { message, remedy } = (await doctor(env))('Temporal');
      return `${message.replace(/^.*\(from TEMPORAL_ADDRESS\) /, '')}: ${remedy}`;
    };
    const { env } = other;
    assert.match(await problemIn(env), /^has a certificate for another name: set TEMPORAL_TLS_SERVER_NAME/);
    assert.equal((await doctor({ ...env, TEMPORAL_TLS_SERVER_NAME: 'temporal.example' }))('Temporal').state, 'ok');
    const unknown = { ...env, TEMPORAL_TLS_SERVER_CA_CERT_PATH: cloud.secret.path('ca.crt') };
    assert.match(await problemIn(unknown), /^has a certificate of an unknown authority: set TEMPORAL_TLS_SERVER_CA/);
    other.put(createAuthority('Nobody').issue('belay'));
    assert.match(await problemIn(env), /^has a certificate for another name/);
    assert.match(
      await problemIn({ ...env, TEMPORAL_TLS_SERVER_NAME: 'temporal.example' }),
      /^ended the connection: .*check that it accepts the client certificate/,
    );
  });

  test('a refused API key is a mistake of the configuration, and appears nowhere', async () => {
    keyed.put('wrong-key-canary');
    const { code, stdout, stderr } = await runInProcess(['list', '--json'], keyed.env);
    assert.equal(code, 2);
    assert.match(stdout, /denies access: .*Request unauthorized.*check the API key/);
    const { message, remedy } = (await doctor(keyed.env))('Temporal');
    assert.match(`${message}: ${remedy}`, /denies access: check the API key/);
    assert.doesNotMatch(stdout + stderr + message, /key-canary/);
  });

  test('a profile file that is not TOML is named with its line, without its content', async () => {
    keyed.secret.write({ 'temporal.toml': '[profile.default]\napi_key = "torn-key-canary\n' });
    const { code, stderr } = await runInProcess(['list'], keyed.env);
    assert.equal(code, 2);
    assert.match(stderr, /line 2 of \S+temporal\.toml is not TOML/);
    assert.doesNotMatch(stderr, /key-canary/);
  });

  test('half of a pair of certificate and key is refused', async () => {
    const half = { TEMPORAL_TLS_CLIENT_CERT_PATH: cloud.secret.path('tls.crt') };
    const { code, stderr } = await runInProcess(['list'], half);
    assert.equal(code, 2);
    assert.match(stderr, /without its key: set TEMPORAL_TLS_CLIENT_KEY_PATH/);
  });
});
