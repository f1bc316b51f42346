import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EventKind } from '../../src/features/events/shapes.ts';
import { hashedId, isRepeatOf, isUsableId } from '../../src/webhooks/handle-delivery.ts';
import { parseBody, textIn } from '../../src/webhooks/parse-body.ts';
import { eventKindOf, eventOf, idIn, type Fields } from '../../src/webhooks/map-event.ts';
import { redacted, shapeOf } from '../../src/webhooks/redact.ts';
import { problemOfId } from '../../src/request/problems.ts';
import { anyText, bodyOf, MAX_BODY_BYTES } from '../support/bodies.ts';

const taken = (body: unknown, fields?: Fields) =>
  eventOf(bodyOf(JSON.stringify(body)), fields === undefined ? {} : { fields });
const KINDS: Record<EventKind, string> = {
  'backup.failed': 'backup.failed server.backup_failed BackupFailed backupFailure BACKUP-ERROR backups/failed',
  'backup.started': 'backup.started backup_created backup-triggered backup.initiated serverBackupQueued',
  'resource.deleted': 'resource.deleted site.removed ServerDestroyed external.deletion server-deleted',
  'alert.fired': 'alert.fired alert_triggered ALERT-FIRING alarm.raised AlertOpened',
  unknown:
    'backup.completed backup failed alert alert.resolved deploy.failed site.deletion_failed backup.deletion_failed ' +
    'backup.deleted user.deleted deploy_key.deleted alert.rule.deleted alert.rule.created member.removed ' +
    'backup.failure.resolved backup_not_failed alert.triggered.resolved',
};
for (const [kind, said] of Object.entries(KINDS)) {
  test(`${said} is recognized as ${kind}`, () => {
    const words = said.split(' ');
    assert.deepEqual(
      new Map(words.map((word) => [word, eventKindOf(word)])),
      new Map(words.map((word) => [word, kind])),
    );
  });
}

test('configured kinds win over likely ones in any spelling', () => {
  const words = { 'backup.failed': ['bkp.err', 'Backup.Created'], unknown: ['alert.fired'] };
  assert.deepEqual(
    [' BKP.ERR ', 'backup.created', 'alert.fired', 'backup.started', null].map((said) => eventKindOf(said, words)),
    ['backup.failed', 'backup.failed', 'unknown', 'backup.started', 'unknown'],
  );
});

for (const [body, server, site, backup] of [
  [{ server_id: 's1', siteId: 'a1', backup: 'b1' }, 's1', 'a1', 'b1'],
  [{ data: { server: { id: 's1' }, site: { uuid: 'a1' }, backupId: 7 } }, 's1', 'a1', '7'],
  [{ data: { object: { server: 12 }, attributes: { backup_id: 'b1' } } }, '12', null, 'b1'],
  [{ server_id: '34 ', site_id: ' a1', backup_id: '\tb1' }, null, null, null],
  [{ payload: { site_id: 'a1' }, event: { server_id: 's1' }, resource: { backup: { id: 'b1' } } }, 's1', 'a1', 'b1'],
  [{ server_id: '', data: { server_id: 's1' }, site: ['a1'], backup: {} }, 's1', null, null],
  [{ server_id: '..', site_id: 'a\u0000', backup_id: 'x'.repeat(300) }, null, null, null],
] as const) {
  test(`ids with likely names are found in ${JSON.stringify(body).slice(0, 90)}`, () => {
    const { serverId, siteId, backupId } = taken(body);
    assert.deepEqual([serverId, siteId, backupId], [server, site, backup]);
  });
}

test('a configured path is the only one used, and can contain list indexes and escaped dots', () => {
  const body = { type: 'x', server_id: 's1', 'a.b': { c: 'site' }, items: [{ id: 9 }, { id: 10 }] };
  const event = taken(body, { kind: 'nothing.here', server: 'data.id', site: 'a\\.b.c', backup: 'items[1].id' });
  assert.deepEqual([event.rawKind, event.serverId, event.siteId, event.backupId], [null, null, 'site', '10']);
  assert.equal(idIn(bodyOf('{"id":"x","items":[12345678901234567890]}'), { id: 'items[0]' }), '12345678901234567890');
  assert.equal(idIn(bodyOf('{"id":"x"}'), {}), null);
});

const SAME_TIME = [1_795_228_234, '1795228234', 1_795_228_234_000, '1795228234.0', '2026-11-21T02:30:34Z'];
const SAME_WORDS = [
  '2026-11-21T02:30:34',
  '2026-11-21 02:30:34.000',
  '2026-11-21T03:30:34.000+01:00',
  'Sat, 21 Nov 2026 02:30:34 GMT',
  '2026-11-21 02:30:34Z',
];
const NO_TIMES = [
  'soon',
  '',
  'server 12',
  12,
  -1,
  20_261_121,
  '9'.repeat(20),
  '2026-99-99',
  true,
  null,
  'Fri, 01 Jan 12345 00:00:00 GMT',
];
for (const time of [...SAME_TIME, ...SAME_WORDS, ...NO_TIMES]) {
  const at = (NO_TIMES as unknown[]).includes(time) ? null : '2026-11-21T02:30:34.000Z';
  test(`the time ${JSON.stringify(time)} is read as ${at ?? 'none'}`, () =>
    assert.equal(taken({ timestamp: time }).at, at));
}

test('a time without a zone is in UTC, also on a machine of another time zone', () => {
  const [source, loader] = ['../../src/webhooks/map-event.ts', '../../tools/typescript.js'].map(
    (path) => new URL(path, import.meta.url).href,
  );
  const times = ['Sat, 21 Nov 2026', 'Sat, 21 Nov 2026 00:00:00', '2026-11-21', '2026-11-21 00:00'];
  const code = `import { eventOf } from '${source}';
    console.log(new Date(0).getHours(), ...${JSON.stringify(times)}.map((time) => eventOf({ timestamp: time }).at));`;
  const args = ['--import', loader!, '--input-type=module', '--eval', code];
  const printed = execFileSync(process.execPath, args, { env: { ...process.env, TZ: 'Asia/Tokyo' }, encoding: 'utf8' });
  assert.equal(printed.trim(), ['9', ...times.map(() => '2026-11-21T00:00:00.000Z')].join(' '));
});

test("property: every body maps to an event with usable or no ids and a short form of the sender's kind", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const body = bodyOf(text);
      const { serverId, siteId, backupId, rawKind, at } = eventOf(body);
      for (const id of [serverId, siteId, backupId]) assert.ok(id === null || problemOfId(id) === null);
      assert.ok(rawKind === null || [...rawKind].length <= 100);
      assert.ok(at === null || new Date(at).toISOString() === at);
      assert.ok(shapeOf(redacted(body)).length > 0);
    }),
  );
});

test("the sender's word for a kind is redacted", () => {
  assert.doesNotMatch(JSON.stringify(taken({ name: 'disk of https://root:hunter2@db is full' })), /hunter2/);
});

test('an id that contains a secret is dropped', () => {
  const event = eventOf(
    bodyOf('{"type":"of s3cr3t-of-ours","server_id":"x-s3cr3t-of-ours","site_id":"https://u:p@h/"}'),
    {
      secrets: ['s3cr3t-of-ours'],
    },
  );
  assert.deepEqual([event.serverId, event.siteId, event.rawKind], [null, null, 'of [redacted]']);
});

test('integers keep all their digits in ids and in the stored body', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (number) => {
      const body = bodyOf(`{"server_id":${number},"list":[${number}]}`);
      assert.equal(eventOf(body).serverId, `${number}`);
      assert.equal(textIn((body.list as unknown[])[0]), `${number}`);
      assert.equal(String((redacted(body) as { server_id: unknown }).server_id), `${number}`);
    }),
  );
});

test('property: __proto__ is never a key, in any position and spelling', () => {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const written = fc.tuple(...[...'__proto__'].map((char) => fc.constantFrom(char, escaped(char))));
  fc.assert(
    fc.property(written, fc.constantFrom('%', '{"a":%}', '{"a":[1,%]}'), fc.jsonValue(), (key, around, value) => {
      const text = around.replace('%', () => `{"b":1,"${key.join('')}" : ${JSON.stringify(value)}}`);
      assert.equal(parseBody(Buffer.from(text)), null, text);
    }),
  );
  assert.deepEqual(bodyOf('{"a":"__proto__","constructor":"x"}'), { a: '__proto__', constructor: 'x' });
});

test('a body must be a JSON object of at most 32 levels, not counting brackets in strings', () => {
  for (const text of [
    '',
    ' ',
    '1',
    '"a"',
    '[]',
    'null',
    'true',
    '{',
    '{}{}',
    "{'a':1}",
    '{"a":01}',
    '{"a":NaN}',
    '{"a":1,}',
  ])
    assert.equal(parseBody(Buffer.from(text)), null, text);
  const deep = (levels: number) => Buffer.from(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
  assert.deepEqual([parseBody(deep(32)) === null, parseBody(deep(33)) === null], [false, true]);
  assert.ok(bodyOf(JSON.stringify({ a: '[{"\\'.repeat(100) })));
});

/** Bodies of the maximum accepted size that are expensive to process. */
const DEAR: Record<string, string> = {
  'half a string full of quotes': `{"a":"${'\\"'.repeat(125_000)}`,
  'half a list full of strings': `[${'"",'.repeat(80_000)}`,
  'open lists': '['.repeat(250_000),
  'a long kind': JSON.stringify({ type: 'aB-'.repeat(80_000) }),
  'a long text that begins like tokens': JSON.stringify({ a: 'eyJ.-sk_?token'.repeat(15_000) }),
  'a long key': JSON.stringify({ ['api-private_pass'.repeat(15_000)]: 1 }),
  'a long number': `{"a":${'9'.repeat(250_000)}}`,
  'many keys': JSON.stringify(Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, i]))),
  'many lists': `{"a":[${'[[1,2,3],[4,5,6]],'.repeat(13_000)}0]}`,
};
for (const [what, text] of Object.entries(DEAR)) {
  test(`a body of maximum size with ${what} is reduced to under 100,000 characters`, () => {
    assert.ok(text.length < MAX_BODY_BYTES);
    const body = parseBody(Buffer.from(text)) ?? {};
    const all = JSON.stringify([eventOf(body), redacted(body, ['whsec_MfKQ9r8G'])]);
    assert.ok(all.length < 100_000, `${all.length} characters`);
  });
}

test('the shape of a body lists its paths as belay.yaml writes them', () => {
  const body = bodyOf('{"a.b":{"c":1},"list":[{"id":"x"},2],"none":null,"empty":[],"o":{}}');
  const shape = ['a\\.b.c  number', 'list[0].id  string', 'none  null', 'empty  empty list', 'o  empty object'];
  assert.deepEqual(shapeOf(body), shape);
});

test('a delivery without an id is identified by its bytes within ten minutes', () => {
  const startMs = 600_000 * 2_992_000;
  const { id, before } = hashedId(Buffer.from('{"a":1}'), startMs);
  const at = (laterMs: number, text = '{"a":1}') => hashedId(Buffer.from(text), startMs + laterMs);
  assert.match(id, /^sha256-[0-9a-f]{64}-2992000$/);
  assert.deepEqual([at(599_999).id, at(600_000).before, at(-1).id], [id, id, before]);
  assert.ok(at(0, '{"a": 1}').id !== id && isUsableId(id));
  assert.ok(isRepeatOf(startMs, startMs + 599_999) && !isRepeatOf(startMs, startMs + 600_000));
});

test('a delivery id has at most 256 visible ASCII characters', () => {
  for (const id of ['1', 'msg_2x', 'a/b:c%d', '..', 'x'.repeat(256)]) assert.ok(isUsableId(id), id);
  for (const id of ['', 'a b', ' a', 'a\n', 'ä', '\u007f', 'x'.repeat(257)]) assert.ok(!isUsableId(id), id);
});
