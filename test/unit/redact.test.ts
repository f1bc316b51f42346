import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redacted } from '../../src/webhooks/redact.ts';
import { anyText, bodyOf, MAX_BODY_BYTES } from '../support/bodies.ts';

const kept = (body: unknown, secrets?: string[]) => redacted(bodyOf(JSON.stringify(body)), secrets);

/** Every string, number and key in a value. */
function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}

test('property: the stored body is bounded for any input', () => {
  // A character costs as much to draw as to read.
  const long = fc.string({ minLength: 20, maxLength: 80 }).map((text) => text.repeat(25));
  const wide = fc.array(fc.dictionary(fc.string({ minLength: 50 }), long));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 500 }), wide, { minKeys: 5 }), (body) => {
      assert.ok(JSON.stringify(redacted(body)).length < MAX_BODY_BYTES);
      assert.ok(textsIn(redacted(body)).every((text) => [...text].length <= 200));
    }),
    { numRuns: 30 },
  );
});

test('at most 50 entries of a list or object are stored, and at most 400 values of a body', () => {
  const sixty = (value: unknown) => Array.from({ length: 60 }, () => value);
  assert.equal((redacted(sixty('x')) as unknown[]).length, 50);
  const object = Object.fromEntries(sixty('x').map((value, index) => [`key-${index}`, value]));
  assert.equal(Object.keys(redacted(object) as object).length, 50);
  const stored = textsIn(redacted(sixty(sixty('x'))));
  // Of 400 values, one is the body, and eight are its lists.
  assert.equal(stored.filter((text) => text === 'x').length, 391);
  assert.equal(stored.at(-1), '[left out]');
});

test('property: a known secret is never stored, in a string, key or number', () => {
  const digits = fc.bigInt({ min: 10n ** 7n, max: 10n ** 20n }).map(String);
  const words = fc
    .string({ minLength: 8 })
    .filter((text) => text === text.trim() && text.length >= 8 && !/redact|left/.test(text));
  fc.assert(
    fc.property(fc.oneof(digits, words), anyText, (secret, text) => {
      const number = /^\d+$/.test(secret) ? secret : '0';
      const said = JSON.stringify({ [`x${secret}`]: `${'long '.repeat(30)}${secret}${secret}`, list: [secret] });
      const body = bodyOf(`{"a":${number},"b":${said},"c":${text}}`);
      const holders = textsIn(redacted(body, ['', 'another', secret])).filter((it) => it.includes(secret));
      assert.deepEqual(holders, []);
    }),
  );
});

test('a value whose key names a secret is not stored, whatever its type', () => {
  const names = [
    'token',
    'accessToken',
    'api_key',
    'Authorization',
    'password',
    'password_confirmation',
    'pwd',
    'cookie',
  ];
  for (const name of [
    ...names,
    'client_secret',
    'db_pass',
    'ssh_key',
    'key',
    'jwt',
    'X-Signature',
    'private-key',
    'credentials',
    'sessionId',
    ...['sshKey', 'deployKey', 'encryptionKey', 'SSHKey', 'dbPass', 'userPIN', 'hmac-key', 'api.key'],
    ...['webhookUrl', 'resetLink', 'magicLoginUrl', 'signed_url', 'privateUri', 'inviteURL'],
  ]) {
    for (const value of ['hunter2', 12345, ['hunter2'], { a: 'hunter2' }])
      assert.deepEqual(kept({ data: { [name]: value } }), { data: { [name]: '[redacted]' } });
  }
  const harmless = {
    server_id: 's1',
    passed: true,
    message: 'disk full',
    keys: 3,
    sk: 'skateboarding',
    bypass: 1,
    monkey: 2,
  };
  Object.assign(harmless, { siteUrl: 'https://a.example', keyword: 'x', compass: 'n', designer: 'x' });
  assert.deepEqual(kept(harmless), harmless);
});

const TOKENS = [
  ...['Bearer abc.def-ghi', 'Basic cm9vdDpodW50ZXIy', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ...[
    'whsec_MfKQ9r8G/KYqrTwj+UPD8ILPZIo2LaLaSw==',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'sk-proj-abcdefghijkl-mnopqrst',
  ],
  ...['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'github_pat_11ABCDEFG0123456789_abcdefghijk'],
  ...['xoxb-123456789012-1234567890123-abcdefghijklmnop', 'glpat-abcdefghij-klmnopqrst', 'AKIAIOSFODNN7EXAMPLE'],
];
for (const token of TOKENS) {
  test(`a token in a string is not stored: ${token.slice(0, 12)}…`, () => {
    assert.deepEqual(kept({ note: `with ${token} in it` }), { note: 'with [redacted] in it' });
  });
}

for (const secret of [
  'PGPASSWORD=hunter2',
  'root password: hunter2',
  'token=hunter2',
  'mysqldump --password hunter2',
  'Authorization: Token hunter2',
  'mysql://root:s3/cr@hunter2@db',
  'https://hooks.slack.com/services/T0/B0/hunter2',
  '{"api_key":"hunter2"}',
]) {
  test(`a secret in a string is not stored: ${secret.replace('hunter2', '…')}`, () => {
    assert.doesNotMatch(JSON.stringify(kept({ note: `when ${secret} was` })), /hunter2/);
  });
}

test('a value with a key of more than a thousand characters is not stored', () => {
  const long = 'hook '.repeat(48_000);
  assert.deepEqual(Object.values(redacted({ [long]: 'harmless', name: 'shop' }) as object), ['[redacted]', 'shop']);
});

test('credentials in addresses and private keys are not stored', () => {
  const note =
    'see https://root:hunter2@db.example/x?a=1&access_token=hunter2&b=2 -----BEGIN PRIVATE KEY-----\nhunter2';
  const text = JSON.stringify(kept({ note }));
  assert.doesNotMatch(text, /hunter2|root/);
  assert.match(text, /see https:.*db\.example\/x\?a=1.*&b=2/);
});
