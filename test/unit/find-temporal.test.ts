import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { recordFile } from '../../src/config/dev-server-record.ts';
import { findTemporal } from '../../src/config/find-temporal.ts';
import { connect } from '../../src/starter.ts';
import { tempFolder } from '../support/temporal.ts';

const DEV = '127.0.0.1:7301';
const PRODUCTION = 'production.example:7233';
const STAGING = 'staging.example:7233';

let home: string;
let idleHome: string;
let profiles: string;
let withoutDefault: string;
before(async () => {
  const folder = await tempFolder();
  [home, idleHome, profiles] = [join(folder, 'home'), join(folder, 'idle'), join(folder, 'temporal.toml')];
  withoutDefault = join(folder, 'staging.toml');
  await mkdir(home);
  await mkdir(idleHome);
  await writeFile(recordFile(home), JSON.stringify({ pid: process.pid, temporal: DEV, ui: null }));
  const profile = (name: string, address: string) =>
    `[profile.${name}]\naddress = "${address}"\nnamespace = "${name}"\n`;
  await writeFile(profiles, profile('default', PRODUCTION) + profile('staging', STAGING));
  await writeFile(withoutDefault, profile('staging', STAGING));
});

/** What is found with these variables and a profile file, as users of Temporal's own tools have it. */
function found(env: Record<string, string>) {
  const own = process.env;
  process.env = { TEMPORAL_CONFIG_FILE: profiles, ...env };
  try {
    const { connectionOptions, namespace, origin, isOneOfSeveral } = findTemporal();
    return [connectionOptions.address, namespace, origin, isOneOfSeveral];
  } finally {
    process.env = own;
  }
}

test('a running belay dev wins over a default profile that no one named', () => {
  assert.deepEqual(found({ BELAY_HOME: home }), [DEV, 'default', 'dev', true]);
});

test('TEMPORAL_NAMESPACE alone does not lead away from a running belay dev, and is its namespace', () => {
  assert.deepEqual(found({ BELAY_HOME: home, TEMPORAL_NAMESPACE: 'billing' }), [DEV, 'billing', 'dev', true]);
});

test('a namespace that a running belay dev does not use makes it one of several', () => {
  const only = (namespace: string) =>
    found({ BELAY_HOME: home, TEMPORAL_CONFIG_FILE: withoutDefault, TEMPORAL_NAMESPACE: namespace });
  assert.deepEqual(only('billing'), [DEV, 'billing', 'dev', true]);
  assert.deepEqual(only('default'), [DEV, 'default', 'dev', false]);
});

test('a named profile wins over a running belay dev, the default one too', () => {
  const named = (name: string) => found({ BELAY_HOME: home, TEMPORAL_PROFILE: name });
  assert.deepEqual(named('staging'), [STAGING, 'staging', 'profile', true]);
  assert.deepEqual(named('default'), [PRODUCTION, 'default', 'profile', true]);
});

test('TEMPORAL_ADDRESS wins over everything', () => {
  const env = { BELAY_HOME: home, TEMPORAL_ADDRESS: '127.0.0.1:7302', TEMPORAL_PROFILE: 'staging' };
  assert.deepEqual(found(env), ['127.0.0.1:7302', 'staging', 'TEMPORAL_ADDRESS', true]);
});

test('without a running belay dev, the default profile counts', () => {
  assert.deepEqual(found({ BELAY_HOME: idleHome }), [PRODUCTION, 'default', 'default profile', false]);
});

for (const address of [
  'https://host:7233',
  'host:7233/',
  ' host:7233',
  'host:7233 ',
  'user@host:7233',
  'host:',
  ':7233',
]) {
  test(`the address ${JSON.stringify(address)} is refused with a remedy, and not repeated`, async () => {
    const says =
      /is not an address of Temporal: write host:port, such as temporal\.example\.com:7233, without a scheme/;
    assert.throws(
      () => found({ BELAY_HOME: idleHome, TEMPORAL_ADDRESS: address }),
      ({ message }: Error) =>
        message.startsWith('TEMPORAL_ADDRESS is') && says.test(message) && !message.includes('user'),
    );
    await assert.rejects(connect({ address }), { type: 'Usage', message: says });
  });
}

test('an address may be a name, an IPv4 or an IPv6 address, with or without a port', () => {
  for (const TEMPORAL_ADDRESS of [
    'temporal',
    'temporal:7233',
    'ns.acct.tmprl.cloud:7233',
    '10.0.0.1:7233',
    '[::1]:7233',
  ]) {
    assert.equal(found({ BELAY_HOME: idleHome, TEMPORAL_ADDRESS })[0], TEMPORAL_ADDRESS);
  }
});

test('a profile file or a certificate that is named and missing is an error with its remedy', () => {
  const missing = join(idleHome, 'missing.pem');
  const remedy = { message: new RegExp(`${missing} cannot be read \\(ENOENT\\): create it, or correct the path`) };
  assert.throws(() => found({ BELAY_HOME: home, TEMPORAL_CONFIG_FILE: missing }), remedy);
  const pair = { TEMPORAL_TLS_CLIENT_CERT_PATH: missing, TEMPORAL_TLS_CLIENT_KEY_PATH: missing };
  for (const env of [pair, { TEMPORAL_TLS_SERVER_CA_CERT_PATH: missing }])
    assert.throws(() => found({ BELAY_HOME: idleHome, ...env }), remedy);
});
