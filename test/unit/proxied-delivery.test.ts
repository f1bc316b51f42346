import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standInReceiver } from '../support/stand-in-receiver.ts';

const OPEN = { events: { sources: { open: { verify: 'none' as const } } } };
const deliver = async (headers: Record<string, string>, configuration = {}) => {
  const receiver = await standInReceiver(configuration);
  const all = { 'content-type': 'application/json', host: '127.0.0.1:4181', ...headers };
  const answer = await receiver.app.inject({ method: 'POST', url: '/webhooks/open', headers: all, payload: '{"a":1}' });
  return { receiver, answer };
};

for (const configuration of [{}, OPEN]) {
  const where = 'events' in configuration ? 'of an unverified source' : 'without sources';
  for (const [name, value] of [
    ['forwarded', 'for=192.0.2.1'],
    ['x-forwarded-for', '192.0.2.1'],
    ['x-forwarded-proto', 'https'],
    ['x-real-ip', '192.0.2.1'],
    ['via', '1.1 caddy'],
    ['host', 'hooks.example.com'],
    ['host', '127.0.0.1.example.com:4181'],
  ] as const) {
    test(`a delivery ${where} that came through a proxy is refused: ${name}: ${value}`, async () => {
      const { receiver, answer } = await deliver({ [name]: value }, configuration);
      assert.deepEqual([answer.statusCode, answer.json()], [403, { error: 'forbidden' }]);
      assert.equal(receiver.stored.length, 0);
      assert.match(await receiver.metrics(), /rejected_total\{source="(open|other)",reason="proxied"\} 1/);
    });
  }
  for (const host of ['127.0.0.1:4181', 'LOCALHOST', '[::1]:4181']) {
    test(`a delivery ${where} that came straight from this machine is accepted: ${host}`, async () => {
      const { answer } = await deliver({ host }, configuration);
      assert.equal(answer.statusCode, 202);
    });
  }
}
