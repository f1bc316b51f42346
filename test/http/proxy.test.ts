import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { toTriggerFailure } from '../../src/activities/failures.ts';
import { createHostingApiClient } from '../../src/hosting-api/client.ts';
import type { HostingApiError } from '../../src/hosting-api/errors.ts';
import { HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { proxyThat } from '../support/proxy.ts';
import { errorOf, http, rawService, TOKEN, site } from '../support/raw-service.ts';

const HTTPS = 'https://127.0.0.1:1';
const HTTP = 'http://127.0.0.1:1';

/** @param timeoutMs short only where no answer comes */
function post(baseUrl: string, proxy: string, timeoutMs = 60_000): Promise<unknown> {
  const timeouts = { readTimeoutMs: timeoutMs, triggerTimeoutMs: timeoutMs };
  const client = createHostingApiClient({ ...timeouts, baseUrl, proxy, token: () => Promise.resolve(TOKEN) });
  return client.triggerDeployment(site('a1'));
}

/** So the POST may be made again. */
function assertNotSent(error: HostingApiError): void {
  assert.equal(error.sent, false, error.message);
  assert.equal(toTriggerFailure(error, 0).type, 'NotSent');
}

test('a request to a plain http:// service goes through a tunnel of the proxy as well', async () => {
  const { baseUrl, sent } = await rawService(http('202 Accepted', '{"id":7}'));
  const { proxy, asked } = await proxyThat('200 Connection established');
  const client = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, proxy, token: () => Promise.resolve(TOKEN) });
  assert.deepEqual(await client.triggerDeployment(site('a1')), { ids: { id: '7' } });
  assert.match(sent(), /^POST \/v1\/sites\/a1\/deploy/);
  const login = Buffer.from('user:p@ss').toString('base64');
  assert.match(asked(), new RegExp(`^CONNECT 127\\.0\\.0\\.1:\\d+ HTTP/1\\.1[^]*Proxy-Authorization: Basic ${login}`));
  assert.ok(!asked().includes(TOKEN));
});

const hasLoopback6 = Object.values(networkInterfaces()).some((all) => all?.some((it) => it.address === '::1'));

test('a proxy may have an IPv6 address', { skip: !hasLoopback6 }, async () => {
  const { baseUrl } = await rawService(http('202 Accepted', '{"id":7}'));
  const { proxy } = await proxyThat('200 Connection established', true, '::1');
  assert.deepEqual(await post(baseUrl, proxy), { ids: { id: '7' } });
});

for (const [baseUrl, target] of [
  ['https://api.example.com', 'api.example.com:443'],
  ['https://api.example.com:8443', 'api.example.com:8443'],
  ['http://api.example.com', 'api.example.com:80'],
  ['http://[::1]', '[::1]:80'],
] as const) {
  test(`the proxy is asked for a tunnel to the port of ${baseUrl}`, async () => {
    const { proxy, asked } = await proxyThat('403 Forbidden', false);
    await errorOf(post(baseUrl, proxy));
    assert.ok(asked().startsWith(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n`), asked());
  });
}

const SILENT_MS = 500;

for (const [answer, timeoutMs, ...baseUrls] of [
  ['407 Proxy Authentication Required', undefined, HTTPS, HTTP],
  ['502 Bad Gateway', undefined, HTTPS, HTTP],
  ['403 Forbidden', undefined, HTTPS, HTTP],
  ['', SILENT_MS, HTTPS, HTTP],
  // The tunnel stands, but the service never completes the TLS handshake in it.
  ['200 Connection established', SILENT_MS, HTTPS],
] as const) {
  for (const baseUrl of baseUrls) {
    test(`nothing was sent to ${baseUrl} if the proxy answers with: ${answer || 'silence'}`, async () => {
      const { proxy } = await proxyThat(answer, false);
      const error = await errorOf(post(baseUrl, proxy, timeoutMs));
      assertNotSent(error);
      assert.ok(['network', 'timeout'].includes(error.kind));
      assert.doesNotMatch(error.message, /p@ss|p%40ss/);
      if (error.kind === 'network') assert.match(error.message, /no connection was made \(the proxy answered \d{3}\)/);
    });
  }
}

for (const baseUrl of [HTTPS, HTTP]) {
  test(`nothing was sent to ${baseUrl} if the proxy is down`, async () => {
    const { proxy, close } = await proxyThat('200 OK');
    await close();
    const error = await errorOf(post(baseUrl, proxy));
    assertNotSent(error);
    assert.match(error.message, /no connection was made \(ECONNREFUSED\)/);
  });
}

test('a connection that breaks after the tunnel stands may have had an effect', async () => {
  const { baseUrl } = await rawService((socket) => socket.destroy());
  const { proxy } = await proxyThat('200 OK');
  const client = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, proxy, token: () => Promise.resolve(TOKEN) });
  assert.equal((await errorOf(client.triggerDeployment(site('a1')))).sent, true);
});
