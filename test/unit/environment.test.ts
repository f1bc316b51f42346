import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  buildEnvironment,
  childEnvironment,
  configFile,
  serviceConfig,
  taskQueue,
  uiUrl,
} from '../../src/config/environment/environment.ts';
import { VARIABLES, ConfigError } from '../../src/config/environment/variables.ts';
import { tempFolder } from '../support/temporal.ts';

const URL = 'https://service.example';

test('an environment without BELAY_API_URL has no service', async () => {
  assert.equal(await serviceConfig({}), null);
  assert.equal(await serviceConfig({ BELAY_API_URL: ' ' }), null);
});

test('a URL keeps its path and loses its trailing slash', async () => {
  const config = await serviceConfig({ BELAY_API_URL: 'https://service.example/api/', BELAY_API_TOKEN: 't' });
  assert.equal(config?.baseUrl, 'https://service.example/api');
});

test('a token file is trimmed and read for every request', async () => {
  const file = join(await tempFolder(), 'token');
  await writeFile(file, ' first \n');
  const config = await serviceConfig({ BELAY_API_URL: URL, BELAY_API_TOKEN_FILE: file });
  assert.equal(await config?.token(), 'first');
  await writeFile(file, 'second\n');
  assert.equal(await config?.token(), 'second');
});

test('http is accepted for this machine, and for another one only with BELAY_ALLOW_HTTP', async () => {
  const token = { BELAY_API_TOKEN: 't' };
  for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:1']) {
    assert.ok(await serviceConfig({ BELAY_API_URL: `http://${host}`, ...token }));
  }
  await assert.rejects(
    serviceConfig({ BELAY_API_URL: 'http://other.example', ...token }),
    /unencrypted.*BELAY_ALLOW_HTTP=1/,
  );
  assert.ok(await serviceConfig({ BELAY_API_URL: 'http://other.example', BELAY_ALLOW_HTTP: '1', ...token }));
});

const WRONG: [what: string, env: Record<string, string>, said: RegExp][] = [
  ['a malformed URL', { BELAY_API_URL: 'service' }, /BELAY_API_URL is not a URL/],
  ['another scheme', { BELAY_API_URL: 'ftp://service.example' }, /must begin with https/],
  ['/v1 at its end', { BELAY_API_URL: `${URL}/v1/` }, /must not end in \/v1/],
  ['a password', { BELAY_API_URL: 'https://u:secret@service.example' }, /BELAY_API_TOKEN/],
  ['a query', { BELAY_API_URL: `${URL}?x=1` }, /must end before/],
  ['no token', { BELAY_API_URL: URL }, /set BELAY_API_TOKEN or BELAY_API_TOKEN_FILE/],
  ['both tokens', { BELAY_API_URL: URL, BELAY_API_TOKEN: 'secret', BELAY_API_TOKEN_FILE: 'f' }, /both set: unset one/],
  [
    'a missing token file',
    { BELAY_API_URL: URL, BELAY_API_TOKEN_FILE: '/no/file' },
    /\/no\/file cannot be read \(ENOENT\)/,
  ],
  ['a token no header can carry', { BELAY_API_URL: URL, BELAY_API_TOKEN: 'secret secret' }, /is not a token/],
];
for (const [what, env, said] of WRONG) {
  test(`a configuration with ${what} is rejected with the reason and without its secrets`, async () => {
    await assert.rejects(serviceConfig(env), (error: Error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, said);
      return !error.message.includes('secret');
    });
  });
}

test('the proxy is an address and stays out of errors', async () => {
  const env = { BELAY_API_URL: URL, BELAY_API_TOKEN: 't' };
  const proxy = 'http://user:secret@proxy.internal:3128';
  assert.equal((await serviceConfig({ ...env, BELAY_PROXY: proxy }))?.proxy, proxy);
  assert.equal((await serviceConfig({ ...env, HTTPS_PROXY: proxy } as never))?.proxy, undefined);
  for (const wrong of ['secret', 'socks5://secret', `${proxy}/path`, 'http://user:100%@secret', 'environment']) {
    await assert.rejects(serviceConfig({ ...env, BELAY_PROXY: wrong }), (error: Error) => {
      assert.match(error.message, /BELAY_PROXY is not the address of a proxy: give one like/);
      return !error.message.includes('secret');
    });
  }
});

test('the address of the Temporal UI has no user or password, which every link would show, and stays out of errors', () => {
  const address = (text: string) => uiUrl({ BELAY_UI_URL: text });
  assert.equal(address('https://ui.example/temporal/'), 'https://ui.example/temporal');
  assert.equal(uiUrl({}), null);
  for (const [wrong, said] of [
    ['https://admin:secret@ui.example', /^BELAY_UI_URL must not contain a user or password/],
    ['https://secret@ui.example', /^BELAY_UI_URL must not contain a user or password/],
    ['ftp://admin:secret@ui.example', /^BELAY_UI_URL must begin with https:\/\/ or http:\/\//],
    ['admin:secret@ui example', /^BELAY_UI_URL (is not a URL|must begin with)/],
  ] as const)
    assert.throws(
      () => address(wrong),
      (error: Error) => error instanceof ConfigError && said.test(error.message) && !error.message.includes('secret'),
    );
});

test('child processes get only the variables that they need', () => {
  const needed = { PATH: '/bin', HOME: '/home/me', LC_ALL: 'C', XDG_CACHE_HOME: '/cache' };
  const forBuilds = { GOPROXY: 'https://go.example', GOFLAGS: '-v', HTTPS_PROXY: 'http://proxy', no_proxy: 'x' };
  const secrets = {
    ...{ BELAY_API_TOKEN: 'x', BELAY_API_TOKEN_FILE: 'y', BELAY_PROXY: 'http://u:p@proxy', PANEL_SECRET: 'z' },
    ...{ TEMPORAL_API_KEY: 'a', TEMPORAL_TLS_CLIENT_KEY_DATA: 'b', NIGHTLY_HEARTBEAT_URL: 'c', GITHUB_TOKEN: 'd' },
    ...{ GOOGLE_API_KEY: 'e', AWS_SECRET_ACCESS_KEY: 'f', MY_PATH: 'g', NODE_OPTIONS: '--inspect' },
  };
  const env = { ...needed, ...forBuilds, ...secrets };
  assert.deepEqual(childEnvironment(env), needed);
  assert.deepEqual(buildEnvironment(env), { ...needed, ...forBuilds });
});

test('every Temporal variable that affects Belay has a row', () => {
  // Belay reads these two itself.
  const own = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'];
  // @temporalio/envconfig reads these three, and its connection options hold nothing of them.
  const withoutEffect = ['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION', 'TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH'];
  const rows = VARIABLES.map(({ name }) => name.replace('*', '')).filter((name) => name.startsWith('TEMPORAL_'));
  const source = readFileSync(
    createRequire(import.meta.url).resolve('@temporalio/envconfig/lib/envconfig-toml.js'),
    'utf8',
  );
  const read = new Set(source.match(/\bTEMPORAL_[A-Z_]+/g));
  assert.deepEqual([...read, ...own].sort(), [...rows, ...withoutEffect].sort());
});

test('a variable that is unset or blank has the default of its row', () => {
  assert.equal(taskQueue({ BELAY_TASK_QUEUE: ' ' }), 'belay');
  assert.equal(taskQueue({ BELAY_TASK_QUEUE: ' nightly ' }), 'nightly');
  assert.deepEqual(configFile({}), { path: 'belay.yaml', isNamed: false });
});

for (const [text, perSecond] of [
  ['10', 10],
  ['0.5', 0.5],
  [' ', undefined],
] as const) {
  test(`BELAY_MAX_RPS "${text}" is ${perSecond === undefined ? 'no ceiling' : `a ceiling of ${perSecond}`}`, async () => {
    const config = await serviceConfig({ BELAY_API_URL: URL, BELAY_API_TOKEN: 't', BELAY_MAX_RPS: text });
    assert.equal(config?.maxRequestsPerSecond, perSecond);
  });
}

for (const text of ['0', '-1', 'ten', '1e9', '1/s']) {
  test(`BELAY_MAX_RPS "${text}" is rejected`, async () => {
    const env = { BELAY_API_URL: URL, BELAY_API_TOKEN: 't', BELAY_MAX_RPS: text };
    await assert.rejects(serviceConfig(env), /BELAY_MAX_RPS is not a number/);
  });
}
