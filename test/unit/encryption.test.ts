import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { Payload } from '@temporalio/common';
import { defaultPayloadConverter } from '@temporalio/common';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/environment/variables.ts';
import { createKeyRing, type KeyRing } from '../../src/encryption/key-ring.ts';
import { createEncryptingCodec, leniently, plainCodec, PayloadError } from '../../src/encryption/payload-codec.ts';
import { tempFolder } from '../support/temporal.ts';

const newKey = () => randomBytes(32).toString('base64');
const [OLD, NEW] = [newKey(), newKey()];

let folder: string;
before(async () => {
  folder = await tempFolder();
});

let files = 0;
function keyFile(content: unknown, mode = 0o600): string {
  const path = join(folder, `keys-${(files += 1)}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return path;
}

interface Ring {
  path: string;
  ring: KeyRing;
  warnings: string[];
  /** Lets a second pass and replaces the file. */
  change: (content: unknown) => void;
}

function ringOf(content: unknown, mode?: number): Ring {
  const path = keyFile(content, mode);
  const warnings: string[] = [];
  let nowMs = 0;
  const ring = createKeyRing({ path, warn: (it) => void warnings.push(it), nowMs: () => nowMs });
  const change = (next: unknown) => {
    nowMs += 1_000;
    writeFileSync(path, typeof next === 'string' ? next : JSON.stringify(next));
  };
  return { path, ring, warnings, change };
}

const codecOf = (keys: Record<string, string>, current = Object.keys(keys).at(-1)) =>
  createEncryptingCodec(ringOf({ current, keys }).ring, false);
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const textOf = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('latin1');
const keyIdOf = ({ metadata }: Payload) => textOf(metadata?.['encryption-key-id']);

/** Any payload, with metadata and data that may be empty. */
const payloads = fc.array(
  fc.record({
    metadata: fc.dictionary(fc.string({ minLength: 1 }), fc.uint8Array({ maxLength: 20 })),
    data: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 4 },
);

/** With metadata in one order, and bytes as hexadecimal. */
const canonical = ({ metadata, data }: Payload) => ({
  metadata: Object.entries(metadata ?? {})
    .map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')])
    .sort(),
  data: Buffer.from(data ?? []).toString('hex'),
});

describe('an encrypting codec', () => {
  test('returns every payload as it was, metadata included', async () => {
    const codec = codecOf({ a: NEW });
    await fc.assert(
      fc.asyncProperty(payloads, async (all) => {
        const decoded = await codec.decode(await codec.encode(all));
        assert.deepEqual(decoded.map(canonical), all.map(canonical));
      }),
    );
  });

  test('shows nothing of a payload but its length and the id of the key', async () => {
    const [encrypted] = await codecOf({ a: NEW }).encode([payloadOf({ error: 'canary-text' })]);
    assert.deepEqual(Object.keys(encrypted?.metadata ?? {}).sort(), ['encoding', 'encryption-key-id']);
    assert.equal(textOf(encrypted?.metadata?.encoding), 'binary/encrypted');
    assert.equal(keyIdOf(encrypted!), 'a');
    assert.doesNotMatch(textOf(encrypted?.data), /canary|json\/plain|encoding/);
  });

  test('encrypts the same payload differently each time', async () => {
    const [one, other] = await codecOf({ a: NEW }).encode([payloadOf('x'), payloadOf('x')]);
    assert.notEqual(textOf(one?.data), textOf(other?.data));
  });

  test('rejects a payload of which any byte was changed', async () => {
    const codec = codecOf({ a: NEW });
    const [encrypted] = await codec.encode([payloadOf('text')]);
    const { length } = encrypted!.data!;
    for (let at = 0; at < length; at += 1) {
      const data = Uint8Array.from(encrypted!.data!);
      data[at]! ^= 1;
      await assert.rejects(codec.decode([{ ...encrypted!, data }]), /key "a" does not decrypt/);
    }
    for (const data of [new Uint8Array(), encrypted!.data!.subarray(0, 27), encrypted!.data!.subarray(1)]) {
      await assert.rejects(codec.decode([{ ...encrypted!, data }]), PayloadError);
    }
  });

  test('rejects a payload of a key that the file lacks, and names the key and the file', async () => {
    const encrypted = await codecOf({ '2025-01': OLD }).encode([payloadOf('x')]);
    const { ring, path } = ringOf({ current: 'a', keys: { a: NEW } });
    await assert.rejects(createEncryptingCodec(ring, true).decode(encrypted), {
      name: 'PayloadError',
      message: `a payload is encrypted with the key "2025-01": add that key to ${path}`,
    });
  });

  test('rejects a payload that other bytes with the same key id encrypted', async () => {
    const encrypted = await codecOf({ a: OLD }).encode([payloadOf('x')]);
    await assert.rejects(codecOf({ a: NEW }).decode(encrypted), /key "a" does not decrypt/);
  });

  test('rejects a payload that names another key id than the one it was encrypted under, even for the same bytes', async () => {
    const codec = codecOf({ a: NEW, b: NEW }, 'a');
    const [encrypted] = await codec.encode([payloadOf('hidden')]);
    const relabelled = { ...encrypted, metadata: { ...encrypted!.metadata, 'encryption-key-id': Buffer.from('b') } };
    await assert.rejects(codec.decode([relabelled]), /a payload of the key "b" does not decrypt/);
  });

  test('rejects a plain payload unless plain payloads are accepted', async () => {
    const { ring } = ringOf({ current: 'a', keys: { a: NEW } });
    const plain = [payloadOf('x')];
    await assert.rejects(createEncryptingCodec(ring, false).decode(plain), /not encrypted.*BELAY_CODEC_ACCEPT_PLAIN=1/);
    assert.deepEqual(await createEncryptingCodec(ring, true).decode(plain), plain);
  });

  test('encrypts with the current key and decrypts with each', async () => {
    const before = await codecOf({ old: OLD }).encode([payloadOf('first')]);
    const both = codecOf({ old: OLD, new: NEW }, 'new');
    const after = await both.encode([payloadOf('second')]);
    assert.equal(keyIdOf(after[0]!), 'new');
    const decoded = await both.decode([...before, ...after]);
    assert.deepEqual(
      decoded.map((it) => defaultPayloadConverter.fromPayload(it)),
      ['first', 'second'],
    );
  });
});

describe('a codec without keys', () => {
  test('leaves payloads alone in both directions', async () => {
    const plain = [payloadOf('x')];
    assert.equal(await plainCodec.encode(plain), plain);
    assert.equal(await plainCodec.decode(plain), plain);
  });

  test('reads on for what shows many workflows, which then learns why something is missing', async () => {
    const [encrypted] = await codecOf({ old: OLD }).encode([payloadOf('secret')]);
    const list = async () => {
      const decoded = await plainCodec.decode([encrypted!, payloadOf('text')]);
      return decoded.map((it) => defaultPayloadConverter.fromPayload<unknown>(it));
    };
    const { answer, unreadable } = await leniently(list);
    assert.deepEqual(answer, [undefined, 'text']);
    assert.match(unreadable ?? '', /key "old": set BELAY_CODEC_KEYS_FILE/);
    await assert.rejects(list, PayloadError);
    assert.equal((await leniently(() => plainCodec.decode([payloadOf('text')]))).unreadable, null);
  });

  test('rejects an encrypted payload with the name of its key and the remedy', async () => {
    const encrypted = await codecOf({ '2026-11': NEW }).encode([payloadOf('x')]);
    await assert.rejects(plainCodec.decode(encrypted), /key "2026-11": set BELAY_CODEC_KEYS_FILE/);
  });
});

describe('a key file', () => {
  const MISTAKES: [what: string, content: unknown, message: RegExp][] = [
    ['that is not JSON', `{"keys":"${NEW}`, /is not JSON: write \{"current"/],
    ['that is a list', [NEW], /: write \{"current"/],
    ['without keys', { current: 'a' }, /keys is missing: write/],
    ['without a current key', { keys: { a: NEW } }, /current is missing: name the key/],
    ['whose current key it lacks', { current: 'b', keys: { a: NEW } }, /"b", which keys lacks: add it/],
    ['with another field', { current: 'a', keys: { a: NEW }, secret: NEW }, /"secret" is not known/],
    [
      'with a short key',
      { current: 'a', keys: { a: NEW.slice(4) } },
      /key "a" is not the base64 of 32 bytes: .*openssl/,
    ],
    ['with a key in hexadecimal', { current: 'a', keys: { a: randomBytes(32).toString('hex') } }, /key "a" is not/],
    ['with a number for a key', { current: 'a', keys: { a: 1 } }, /key "a" is not the base64/],
    ['with an unusable key id', { current: 'a b', keys: { 'a b': NEW } }, /"a b" is not a key id: use up to 64/],
  ];

  for (const [what, content, message] of MISTAKES) {
    test(`${what} is a configuration error with the file and the remedy, without a key`, () => {
      const path = keyFile(content);
      assert.throws(
        () => createKeyRing({ path, warn: () => undefined }),
        (error: Error) => {
          assert.ok(error instanceof ConfigError);
          assert.ok(error.message.startsWith(`BELAY_CODEC_KEYS_FILE: ${path}`), error.message);
          assert.match(error.message, message);
          assert.ok(!error.message.includes(NEW.slice(4, 20)), 'the message repeats the key');
          return true;
        },
      );
    });
  }

  test('that does not exist is a configuration error', () => {
    const path = join(folder, 'missing.json');
    assert.throws(() => createKeyRing({ path, warn: () => undefined }), /missing\.json cannot be read \(ENOENT\)/);
  });

  test('that every user can read causes a warning, and one for its owner alone does not', () => {
    const content = { current: 'a', keys: { a: NEW } };
    const { path } = ringOf(content);
    const warnings: string[] = [];
    createKeyRing({ path, warn: (it) => void warnings.push(it) });
    assert.equal(warnings.length, 0);
    chmodSync(path, 0o604);
    createKeyRing({ path, warn: (it) => void warnings.push(it) });
    assert.match(warnings.join(), /every user of this machine.*chmod 600/);
  });

  test('is read again when it changed, at most once a second', () => {
    const { ring, path, change } = ringOf({ current: 'a', keys: { a: OLD } });
    writeFileSync(path, JSON.stringify({ current: 'b', keys: { a: OLD, b: NEW } }));
    assert.equal(ring.current().id, 'a');
    change({ current: 'b', keys: { a: OLD, b: NEW } });
    assert.equal(ring.current().id, 'b');
    assert.ok(ring.find('a'));
  });

  test('is read again at once for a key that it lacked', () => {
    const { ring, path } = ringOf({ current: 'a', keys: { a: OLD } });
    assert.equal(ring.find('b'), undefined);
    writeFileSync(path, JSON.stringify({ current: 'a', keys: { a: OLD, b: NEW } }));
    assert.ok(ring.find('b'));
  });

  test('is followed through a symbolic link that moves, as in a mounted secret', () => {
    const [before, after] = [keyFile({ current: 'a', keys: { a: OLD } }), keyFile({ current: 'b', keys: { b: NEW } })];
    const path = join(folder, 'link.json');
    symlinkSync(before, path);
    let nowMs = 0;
    const ring = createKeyRing({ path, warn: () => undefined, nowMs: () => nowMs });
    assert.equal(ring.current().id, 'a');
    symlinkSync(after, `${path}.next`);
    renameSync(`${path}.next`, path);
    nowMs += 1_000;
    assert.equal(ring.current().id, 'b');
  });

  test('with a mistake after a change keeps the last good keys in force, and causes one warning without a key', () => {
    const { ring, warnings, change, path } = ringOf({ current: 'a', keys: { a: OLD } });
    for (const broken of [`{"keys":"${NEW}`, `{"keys":"${NEW}`]) {
      change(broken);
      assert.equal(ring.current().id, 'a');
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /is not JSON.*the keys read before stay in force/);
    assert.ok(warnings[0]!.includes(path) && !warnings[0]!.includes(NEW));
    change({ current: 'b', keys: { a: OLD, b: NEW } });
    assert.equal(ring.current().id, 'b');
  });

  test('that gives a known key other bytes is not used', () => {
    const { ring, warnings, change } = ringOf({ current: 'a', keys: { a: OLD } });
    const before = ring.current().key;
    change({ current: 'a', keys: { a: NEW } });
    assert.ok(ring.current().key.equals(before));
    assert.match(warnings.join(), /key "a" has other bytes than before: restore them/);
  });
});
