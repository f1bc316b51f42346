import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verifyHmac, verifyStandard, type HmacOptions } from '../../src/webhooks/verify-signature.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const HMAC_SECRET = 'key of the generic source';

const hmacOf = (body: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', HMAC_SECRET).update(body).digest(encoding);

/** The example in the text of Standard Webhooks, which its libraries share. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  seconds: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

/** Standard Webhooks by its text, without its library. */
function standard(seconds: number, { secret, id, body } = VECTOR) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

describe('verification', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const judge = (headers: Record<string, string>, secrets = [VECTOR.secret]) =>
    verifyStandard(secrets, headers, Buffer.from(VECTOR.body));

  test('accepts the example signature of Standard Webhooks for five minutes only', () => {
    assert.equal(standard(VECTOR.seconds)['webhook-signature'], VECTOR.signature);
    assert.equal(judge(standard(now())), null);
    assert.equal(judge(standard(now() - 290)), null);
    assert.equal(judge(standard(now() + 290)), null);
    for (const seconds of [VECTOR.seconds, now() - 310, now() + 310])
      assert.equal(judge(standard(seconds)), 'bad_time');
  });

  test('needs one match among several secrets and several signatures', () => {
    const headers = standard(now());
    const signature = headers['webhook-signature'];
    assert.equal(judge(headers, [NEW_SECRET, VECTOR.secret]), null);
    assert.equal(judge(headers, [NEW_SECRET]), 'bad_signature');
    assert.equal(judge({ ...headers, 'webhook-signature': `v1a,x v1,AAAA ${signature}` }), null);
    assert.equal(judge({ ...headers, 'webhook-signature': signature.replace('v1', 'v2') }), 'bad_signature');
  });

  test('signatures cover the bytes as sent, also those that are no UTF-8', () => {
    const body = Buffer.from('{"a":"\xff"}', 'latin1');
    const key = Buffer.from(VECTOR.secret.slice('whsec_'.length), 'base64');
    const seconds = now();
    const signature = createHmac('sha256', key).update(`${VECTOR.id}.${seconds}.`).update(body).digest('base64');
    const headers = { ...standard(seconds), 'webhook-signature': `v1,${signature}` };
    assert.equal(verifyStandard([VECTOR.secret], headers, body), null);
    const replaced = Buffer.from(body.toString());
    assert.equal(verifyStandard([VECTOR.secret], headers, replaced), 'bad_signature');
  });

  test('property: agrees with the library of Standard Webhooks about text, whatever the headers', () => {
    const library = (headers: Record<string, string>, text: string) => {
      try {
        new Webhook(VECTOR.secret).verify(text, headers, { jsonParse: false });
        return true;
      } catch {
        return false;
      }
    };
    const changed = fc.option(fc.string({ minLength: 1 }), { nil: null });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), changed, changed, (text, id, signature) => {
        const body = Buffer.from(text).toString();
        const right = standard(now(), { ...VECTOR, body });
        const headers = {
          ...right,
          ...(id !== null && { 'webhook-id': id.trim() || 'x' }),
          ...(signature !== null && { 'webhook-signature': `${signature} ${right['webhook-signature']}`.trim() }),
        };
        assert.equal(verifyStandard([VECTOR.secret], headers, Buffer.from(body)) === null, library(headers, body));
      }),
    );
  });

  test('accepts a generic HMAC only in its configured form', () => {
    const [hex, base64] = [hmacOf('{"a":1}'), hmacOf('{"a":1}', 'base64')];
    const judge = (value: string, options: Partial<HmacOptions> = {}) =>
      verifyHmac({ header: 'X-Sign', ...options })(['other', HMAC_SECRET], { 'x-sign': value }, Buffer.from('{"a":1}'));
    const prefix = { prefix: 'sha256=' };
    for (const doubt of [judge(hex), judge(base64, { encoding: 'base64' }), judge(`sha256=${hex}`, prefix)])
      assert.equal(doubt, null);
    for (const doubt of [judge(hex, prefix), judge(base64), judge(hex.slice(2)), judge(hmacOf('{"a":2}'))])
      assert.equal(doubt, 'bad_signature');
    assert.equal(judge(' '), 'no_signature');
  });
});
