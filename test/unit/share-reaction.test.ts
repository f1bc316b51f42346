import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interpretBody } from '../../src/webhooks/handle-delivery.ts';
import { bodyOf } from '../support/bodies.ts';

const FIELDS = { server: 'server_id', backup: 'backup_id' };
const KINDS = { 'backup.started': ['server.backup.started'] };

const reactions = (type: string, mapping: object, isVerified = true) => {
  const body = bodyOf(JSON.stringify({ type, server_id: 12, backup_id: 77 }));
  return interpretBody(body, { fields: {}, kinds: {}, isVerified, ...mapping }, {}).reactions;
};

test("a run uses another party's backup where the source names server, backup and the word for it", () => {
  assert.deepEqual(reactions('server.backup.started', { fields: FIELDS, kinds: KINDS }), ['share']);
  assert.deepEqual(reactions(' Server.Backup.Started', { fields: FIELDS, kinds: KINDS }), ['share']);
});

for (const [what, mapping] of Object.entries({
  nothing: {},
  'the fields only': { fields: FIELDS },
  'the word only': { kinds: KINDS },
  'no server': { fields: { backup: FIELDS.backup }, kinds: KINDS },
  'no backup': { fields: { server: FIELDS.server }, kinds: KINDS },
})) {
  test(`a run does not use another party's backup where the source configures ${what}`, () => {
    assert.deepEqual(reactions('server.backup.started', mapping), []);
  });
}

test('a run does not use a backup of a database, whose word only looks like that of a server', () => {
  assert.deepEqual(reactions('database.backup.started', { fields: FIELDS, kinds: KINDS }), []);
});

test('an unverified sender shares nothing, whatever is configured', () => {
  assert.deepEqual(reactions('server.backup.started', { fields: FIELDS, kinds: KINDS }, false), []);
});
