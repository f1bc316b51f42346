import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { childEnvironment, ConfigError, serviceConfig } from '../../src/config/environment/environment.ts';
import { tempFolder } from '../support/temporal.ts';

const URL = 'https://service.example';

test('no BELAY_API_URL is no service', async () => {
  assert.equal(await serviceConfig({}), null);
  assert.equal(await serviceConfig({ BELAY_API_URL: ' ' }), null);
});

test('a URL keeps its path, and loses its last slash', async () => {
  const config = await serviceConfig({ BELAY_API_URL: 'https://service.example/api/', BELAY_API_TOKEN: 't' });
  assert.equal(config?.baseUrl, 'https://service.example/api');
});

test('a token file is trimmed, and read for every request', async () => {
  const file = join(await tempFolder(), 'token');
  await writeFile(file, ' first \n');
  const config = await serviceConfig({ BELAY_API_URL: URL, BELAY_API_TOKEN_FILE: file });
  assert.equal(await config?.token(), 'first');
  await writeFile(file, 'second\n');
  assert.equal(await config?.token(), 'second');
});

test('http goes to this machine, and to another only when allowed', async () => {
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
  ['a URL that is none', { BELAY_API_URL: 'service' }, /BELAY_API_URL is not a URL/],
  ['another scheme', { BELAY_API_URL: 'ftp://service.example' }, /must begin with https/],
  ['/v1 at its end', { BELAY_API_URL: `${URL}/v1/` }, /must not end in \/v1/],
  ['a password', { BELAY_API_URL: 'https://u:secret@service.example' }, /BELAY_API_TOKEN/],
  ['a query', { BELAY_API_URL: `${URL}?x=1` }, /must end before/],
  ['no token', { BELAY_API_URL: URL }, /set BELAY_API_TOKEN or BELAY_API_TOKEN_FILE/],
  ['both tokens', { BELAY_API_URL: URL, BELAY_API_TOKEN: 'secret', BELAY_API_TOKEN_FILE: 'f' }, /both set: unset one/],
  [
    'a token file that is missing',
    { BELAY_API_URL: URL, BELAY_API_TOKEN_FILE: '/no/file' },
    /\/no\/file cannot be read \(ENOENT\)/,
  ],
  ['a token no header can carry', { BELAY_API_URL: URL, BELAY_API_TOKEN: 'secret secret' }, /holds no token/],
];
for (const [what, env, said] of WRONG) {
  test(`a configuration with ${what} is refused by the name of the variable, without its secrets`, async () => {
    await assert.rejects(serviceConfig(env), (error: Error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, said);
      return !error.message.includes('secret');
    });
  });
}

test('programs we start get no token', () => {
  assert.deepEqual(childEnvironment({ PATH: '/bin', BELAY_API_TOKEN: 'x', BELAY_API_TOKEN_FILE: 'y' }), {
    PATH: '/bin',
  });
});
