import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { recordFile } from '../../src/config/temporal/dev-server-record.ts';
import { findTemporal } from '../../src/config/temporal/find-temporal.ts';
import { tempFolder } from '../support/temporal.ts';

const DEV = '127.0.0.1:7301';
const PRODUCTION = 'production.example:7233';
const STAGING = 'staging.example:7233';

let home: string;
let idleHome: string;
let profiles: string;
before(async () => {
  const folder = await tempFolder();
  [home, idleHome, profiles] = [join(folder, 'home'), join(folder, 'idle'), join(folder, 'temporal.toml')];
  await mkdir(home);
  await mkdir(idleHome);
  await writeFile(recordFile(home), JSON.stringify({ pid: process.pid, temporal: DEV, ui: null }));
  const profile = (name: string, address: string) =>
    `[profile.${name}]\naddress = "${address}"\nnamespace = "${name}"\n`;
  await writeFile(profiles, profile('default', PRODUCTION) + profile('staging', STAGING));
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

test('TEMPORAL_NAMESPACE alone does not lead away from a running belay dev', () => {
  assert.deepEqual(found({ BELAY_HOME: home, TEMPORAL_NAMESPACE: 'billing' }), [DEV, 'default', 'dev', true]);
});

test('a namespace that a running belay dev does not use makes it one of several', () => {
  const only = (namespace: string) =>
    found({ BELAY_HOME: home, TEMPORAL_CONFIG_FILE: join(home, 'none.toml'), TEMPORAL_NAMESPACE: namespace });
  assert.deepEqual(only('billing'), [DEV, 'default', 'dev', true]);
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
