import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostingApiClient } from '../../src/hosting-api/index.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { probeService, HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { atEnd } from '../support/at-end.ts';
import { literalService } from '../support/literal.ts';

const probe = (baseUrl: string, token = () => Promise.resolve('t')) =>
  probeService(createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, token }), baseUrl);

test('the probe finds the service, or a token that it refuses', async () => {
  const sandbox = await startSandbox({ token: 't' });
  atEnd(() => sandbox.close());
  assert.equal((await probe(sandbox.url)).state, 'ok');
  assert.equal((await probe(sandbox.url, () => Promise.resolve('other'))).state, 'refused');
  assert.equal((await probe(sandbox.url, () => Promise.reject(new Error('no file')))).state, 'refused');
});

const JSON_TYPE = 'application/json';
for (const [answer, status, type, body, state] of [
  ['404 with JSON', 404, JSON_TYPE, '{"message":"no such backup"}', 'ok'],
  ['200 with JSON of another shape', 200, JSON_TYPE, '{"data":1}', 'ok'],
  ['404 with HTML', 404, 'text/html', '<h1>Not found</h1>', 'not_the_service'],
  ['200 with HTML', 200, 'text/html', '<h1>Parked</h1>', 'not_the_service'],
  ['404 without a body', 404, JSON_TYPE, '', 'not_the_service'],
  ['a redirect', 302, JSON_TYPE, '{}', 'not_the_service'],
  ['503 with JSON', 503, JSON_TYPE, '{}', 'unreachable'],
] as const) {
  test(`an answer of ${answer} to the probe means ${state}`, async () => {
    const { url } = await literalService((_request, response) => {
      response.writeHead(status, { 'content-type': type, location: '/elsewhere' }).end(body);
    });
    assert.equal((await probe(url)).state, state);
  });
}

test('a service that nobody listens for is unreachable', async () => {
  assert.equal((await probe('http://127.0.0.1:1')).state, 'unreachable');
});
