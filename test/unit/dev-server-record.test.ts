import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDevServerRecord, recordFile } from '../../src/config/dev-server-record.ts';
import { tempFolder } from '../support/temporal.ts';

const OWN = { pid: process.pid, temporal: '127.0.0.1:7233', ui: 'http://127.0.0.1:8233' };

async function homeWith(record: unknown): Promise<string> {
  const home = join(await tempFolder(), 'home');
  await mkdir(home);
  await writeFile(recordFile(home), JSON.stringify(record));
  return home;
}

test('the record of a running dev server is believed', async () => {
  for (const record of [
    OWN,
    { ...OWN, temporal: null, ui: null },
    { ...OWN, temporal: 'localhost:1' },
    { ...OWN, temporal: '[::1]:7233' },
    { ...OWN, sandbox: { url: 'http://127.0.0.1:4180', token: 't' } },
  ])
    assert.deepEqual(readDevServerRecord(await homeWith(record)), record);
});

const FORGED: [what: string, change: object][] = [
  ['the process 0', { pid: 0 }],
  ['a process group', { pid: -1 }],
  ['no number as process', { pid: '1' }],
  ['a foreign Temporal', { temporal: 'evil.example:7233' }],
  ['a name that only begins like loopback', { temporal: '127.0.0.1.evil.example:7233' }],
  ['a foreign host behind a user', { temporal: '127.0.0.1@evil.example:7233' }],
  ['a user in the address', { temporal: 'evil.example:1@127.0.0.1:7233' }],
  ['an address without a port', { temporal: '127.0.0.1' }],
  ['an address that is no text', { temporal: { host: 'evil.example' } }],
  ['a foreign UI', { ui: 'https://evil.example' }],
  ['a UI that runs a script', { ui: 'javascript:alert(1)' }],
  ['a foreign sandbox', { sandbox: { url: 'https://panel.example', token: 't' } }],
  ['a sandbox without a token', { sandbox: { url: 'http://127.0.0.1:4180' } }],
  ['no sandbox where one should be', { sandbox: null }],
  ['nothing', { pid: undefined, temporal: undefined, ui: undefined }],
];
for (const [what, change] of FORGED) {
  test(`a record that names ${what} is not believed`, async () => {
    assert.equal(readDevServerRecord(await homeWith({ ...OWN, ...change })), null);
  });
}

test('a record that is not an object is not believed', async () => {
  for (const record of [null, 1, 'x', []]) assert.equal(readDevServerRecord(await homeWith(record)), null);
});

test("another user's record is not believed", async (context) => {
  const home = await homeWith(OWN);
  const own = process.getuid!;
  context.after(() => (process.getuid = own));
  // Only root could give the file away.
  process.getuid = () => own() + 1;
  assert.equal(readDevServerRecord(home), null);
});
