import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { standInReceiver } from '../support/stand-in-receiver.ts';

const HEAD =
  'POST /webhooks/x HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n';
const BODY = '{"a":1}';

async function listening(bounds: { connections: number; bodies: number }) {
  const receiver = await standInReceiver({}, { bounds });
  await receiver.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = receiver.app.server.address() as { port: number };
  const sockets: Socket[] = [];
  const dial = async (text = '') => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.on('data', (data: Buffer) => void (answer += data.toString())).on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    return {
      socket,
      status: () => eventually('an answer', () => /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]),
      text: () => answer,
    };
  };
  const end = async () => {
    for (const socket of sockets) socket.destroy();
    await receiver.app.close();
  };
  const received = (count: number) =>
    eventually(`${count} deliveries`, async () =>
      (await receiver.metrics()).includes(`received_total{source="other"} ${count}`),
    );
  return { ...receiver, dial, end, received };
}

describe('the receiver', () => {
  test('answers 503 to a delivery while too many are in progress, and takes it afterwards', async () => {
    const { dial, end, received, metrics, stored } = await listening({ connections: 10, bodies: 2 });
    const slow = [await dial(HEAD), await dial(HEAD)];
    await received(2);
    const refused = await dial(HEAD + BODY);
    assert.equal(await refused.status(), '503');
    assert.match(refused.text(), /^retry-after: 10\r$/m);
    assert.match(await metrics(), /reason="overloaded"\} 1/);
    slow[0]!.socket.destroy();
    slow[1]!.socket.write(BODY);
    assert.equal(await slow[1]!.status(), '202');
    await eventually('room', async () => (await (await dial(HEAD + BODY)).status()).startsWith('20'));
    assert.ok(stored.length >= 1);
    await end();
  });

  test('answers 503 on a connection too many, and its health checks go on', async () => {
    const { dial, end } = await listening({ connections: 2, bodies: 10 });
    const first = [await dial(), await dial()];
    assert.equal(await (await dial(HEAD + BODY)).status(), '503');
    const health = await dial('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.equal(await health.status(), '200');
    for (const { socket } of first) socket.destroy();
    await eventually('room', async () => (await (await dial(HEAD + BODY)).status()).startsWith('20'));
    await end();
  });

  test('asks Temporal once for many who ask whether it is ready', async () => {
    let asked = 0;
    const store = {
      isReady: () => Promise.resolve((asked += 1) > 0),
      credentials: () => ({ areGood: true, certificateEndMs: null }),
      accept: () => Promise.resolve(true),
      acceptedAtMs: () => Promise.resolve(null),
      close: () => Promise.resolve(),
    };
    const { app } = await standInReceiver({}, { store });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject('/readyz')));
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
    assert.equal(asked, 1);
  });
});
