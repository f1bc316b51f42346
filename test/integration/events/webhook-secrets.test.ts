import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { SourceConfig } from '../../../src/features/events/config.ts';
import { SECRET, secretFile, signed, startLoneReceiver, type Receiver } from '../../support/receiver.ts';
import { ConfigError } from '../../../src/config/environment/variables.ts';

const NEW_SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const WEAK_SECRET = `whsec_${Buffer.from('a').toString('base64')}`;
const BODY = JSON.stringify({ type: 'alert.fired' });

const receiverOf = (panel: SourceConfig): Promise<Receiver> => startLoneReceiver({ events: { sources: { panel } } });

/** A source with two secrets, of which the test changes the newer one. */
async function rotating(): Promise<{ receiver: Receiver; file: string }> {
  const newer = await secretFile(NEW_SECRET);
  const secrets = [newer, await secretFile(SECRET)];
  return { receiver: await receiverOf({ verify: 'standard-webhooks', secrets }), file: newer.file };
}

describe('secret rotation', () => {
  test('accepts both secrets', async () => {
    const { receiver } = await rotating();
    for (const secret of [SECRET, NEW_SECRET]) assert.equal((await receiver.deliver(BODY, { secret })).status, 202);
  });

  for (const [what, spoil] of Object.entries<(file: string) => void>({
    'is missing': (file) => rmSync(file),
    'is empty': (file) => writeFileSync(file, ''),
    'is malformed': (file) => writeFileSync(file, 'hunter2'),
    'is too weak': (file) => writeFileSync(file, WEAK_SECRET),
  })) {
    test(`accepts the old secret if the new one ${what}, and asks senders with another secret to retry`, async () => {
      const { receiver, file } = await rotating();
      spoil(file);
      assert.equal((await receiver.deliver(BODY)).status, 202);
      const headers = { ...signed(BODY), 'webhook-signature': '' };
      assert.equal((await receiver.deliver(BODY, { headers })).status, 401, 'an unsigned delivery was accepted');
      for (const secret of [NEW_SECRET, WEAK_SECRET]) {
        const { status, headers: answered } = await receiver.deliver(BODY, { secret });
        assert.deepEqual([status, answered.has('retry-after')], [503, true]);
      }
      assert.ok(
        (await receiver.metrics()).includes('belay_webhooks_rejected_total{source="panel",reason="bad_secret"} 2'),
      );
      writeFileSync(file, NEW_SECRET);
      assert.equal((await receiver.deliver(BODY, { secret: NEW_SECRET })).status, 202);
    });
  }
});

describe('an HMAC secret', () => {
  const hmacOf = async (secret: string): Promise<Receiver> =>
    receiverOf({ verify: 'hmac-sha256', header: 'x-signature', secrets: [await secretFile(secret)] });

  for (const secret of ['a', 'x'.repeat(15), `${'x'.repeat(20)}\n${'y'.repeat(20)}`]) {
    test(`is rejected if it is weak or has two lines: ${JSON.stringify(secret.slice(0, 5))}`, async () => {
      await assert.rejects(
        hmacOf(secret),
        (error) => error instanceof ConfigError && /secrets\.0: .*too weak/.test(error.message),
      );
    });
  }

  test('verifies the whole header, so text after a valid signature makes it invalid', async () => {
    const receiver = await hmacOf('x'.repeat(16));
    const good = createHmac('sha256', 'x'.repeat(16)).update(BODY).digest('hex');
    const statusOf = async (signature: string) =>
      (await receiver.deliver(BODY, { headers: { 'x-signature': signature } })).status;
    assert.deepEqual(
      [await statusOf(good), await statusOf(`${good}zz`), await statusOf(`${good}, ${good}`)],
      [202, 401, 401],
    );
  });
});
