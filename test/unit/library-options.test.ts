import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { WorkflowNotFoundError, type Connection } from '@temporalio/client';
import { tokenSource } from '../../src/config/environment/secrets.ts';
import { listRuns } from '../../src/client/runs/list-runs.ts';
import type { Outcome } from '../../src/contract/names.ts';
import { startRun, type StartOptions } from '../../src/client/runs/start-run.ts';
import type { Session } from '../../src/client/session.ts';
import { toBelayError } from '../../src/client/to-belay-error.ts';
import { withFittingMeta } from '../../src/request/limits.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';
import { connect, type ConnectOptions } from '../../src/starter.ts';
import { tempFolder } from '../support/temporal.ts';

test('a misspelt option of start or connect is refused, and names those that there are', async () => {
  const start = startRun({} as Session, { siteIds: ['34'] }, { keys: 'x' } as StartOptions);
  await assert.rejects(start, { type: 'Usage', message: 'keys: is not an option of start: use type, key, again' });
  const connecting = connect({ host: 'host:7233' } as ConnectOptions);
  await assert.rejects(connecting, {
    type: 'Usage',
    message: /^host: is not an option of connect: use connection, ad/,
  });
});

test('a misspelt option of a call that reads is refused, and names those that there are', async () => {
  // Nothing listens there, and nothing is asked.
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  await using belay = await connect({ connection: { withDeadline } as unknown as Connection });
  const typo = { before: '2026-01-01T00:00:00Z', after: null } as object;
  const known = { type: 'Usage', message: /^before: is not an option of [\w.]+: use / };
  const calls = [belay.list(typo), belay.advise(typo), belay.rollouts.list(typo), belay.listEvents(typo)];
  for (const call of calls) await assert.rejects(call, known);
  for (const handle of [belay.get('run:1'), belay.rollouts.get('rollout:1')])
    await assert.rejects(handle.result(typo), {
      type: 'Usage',
      message: 'before: is not an option of result: use signal',
    });
  await assert.rejects(belay.get('run:1').result({ signal: 5 } as object), {
    type: 'Usage',
    message: 'signal: is not an AbortSignal',
  });
});

test('a filter without meaning is refused with its name, its value and what to use', async () => {
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  await using belay = await connect({ connection: { withDeadline } as unknown as Connection });
  const takers: [call: (filter: object) => unknown, takes: 'limit' | 'both'][] = [
    [(it) => belay.list(it), 'both'],
    [(it) => belay.listEvents(it), 'both'],
    [(it) => belay.rollouts.list(it), 'both'],
    [(it) => belay.advise(it), 'limit'],
    [(it) => belay.overview(it), 'limit'],
  ];
  for (const [call, takes] of takers) {
    const refuses = (filter: object, message: RegExp) =>
      assert.rejects(async () => call(filter), { type: 'Usage', message }, `${String(call)} ${JSON.stringify(filter)}`);
    for (const limit of [-5, 0, 1.5, NaN])
      await refuses({ limit }, /^limit: -?[\dNa.]+ is not a number of entries: use /);
    await refuses({ limit: 'x' }, /^limit: "x" is not .*: use a whole number from 1$/);
    if (takes === 'both')
      await refuses({ since: 'yesterday' }, /^since: "yesterday" is not a time: use ISO 8601, such as/);
    await refuses({ typo: 1 }, /^typo: is not an option of/);
  }
  const late = belay.receipts.closedSince('yesterday')[Symbol.asyncIterator]();
  await assert.rejects(late.next(), { type: 'Usage', message: /^since: "yesterday" is not a time/ });
  for (const filter of [
    { siteId: '' },
    { appId: ' a' },
    { serverId: ['12', ''] },
    { targets: [{ kind: 'site', id: '' }] },
  ])
    await assert.rejects(belay.list(filter as object), {
      type: 'Usage',
      message: /^(siteId|appId|serverId|targets): /,
    });
});

test('an empty id of a run, rollout or event is refused', async () => {
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  await using belay = await connect({ connection: { withDeadline } as unknown as Connection });
  const calls = [
    () => belay.get(''),
    () => belay.rollouts.get(''),
    () => belay.rollouts.retry(''),
    () => belay.receipts.get(''),
    () => belay.getEvent(''),
    () => belay.approvals.question(''),
    () => belay.approvals.approve('', { by: 'ana', plan: 'p' } as never),
    () => belay.get(undefined as unknown as string),
  ];
  for (const call of calls)
    await assert.rejects(async () => call(), {
      type: 'Usage',
      message: /^workflowId: \S+ is not an id: use one from `belay/,
    });
});

test('connect refuses a service that is no URL before it opens a connection, which nobody could close', async () => {
  // Nothing listens there.
  const address = '127.0.0.1:1';
  for (const service of ['bad', 5 as never])
    await assert.rejects(connect({ address, service }), {
      type: 'Usage',
      message: 'the service is not a URL: give one like https://host',
    });
});

test('connect refuses an address of the Temporal UI with a password, which every link would show', async () => {
  await assert.rejects(connect({ address: '127.0.0.1:1', uiUrl: 'https://ana:secret@ui.example' }), {
    type: 'Usage',
    message: 'uiUrl must not contain a user or password: it becomes a part of links that others see',
  });
});

test('a decision about a rollout is refused if it has a field of another name, or a server that is not set', async () => {
  await using belay = await connect({ connection: {} as Connection });
  const rollout = belay.rollouts.get('rollout:1');
  const refused = (decision: object, message: RegExp) =>
    assert.rejects(rollout.resume(decision as never), { type: 'Usage', message });
  const by = { by: 'ana', reason: 'it is ours' };
  await refused({ ...by, serverID: '22' }, /^serverID: is not a field of resume: use by, reason, serverId$/);
  await refused({ ...by, serverId: undefined }, /^serverId: is undefined: name the server to release, or leave it out/);
  for (const serverId of [22, ' ', { toString: null }])
    await refused({ ...by, serverId }, /^serverId: is not an id: name the server to release, or leave it out/);
  await assert.rejects(rollout.abort(null as never), { type: 'Usage', message: /^give your name and a reason/ });
});

test('a misspelt field of a freeze or a thaw is refused, and freezes nothing', async () => {
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  await using belay = await connect({ connection: { withDeadline } as unknown as Connection });
  const freeze = { reason: 'disks', forMs: 60_000 };
  for (const [typo, value] of [
    ['scop', { kind: 'server', id: '22' }],
    ['backup', true],
  ] as const)
    await assert.rejects(belay.freezes.begin({ ...freeze, [typo]: value }), {
      type: 'Usage',
      message: `${typo}: is not an option of freezes.begin: use scope, until, forMs, reason, by, backups, override, extend`,
    });
  await assert.rejects(belay.freezes.thaw({ kind: 'all' }, { reasons: 'over' } as never), {
    type: 'Usage',
    message: 'reasons: is not an option of freezes.thaw: use reason, by',
  });
  const thawing = belay.freezes.thaw({ kind: 'fleets', id: 'shop' } as never, { reason: 'over' });
  await assert.rejects(thawing, {
    type: 'Usage',
    message: /^scope\.kind: must be one of all, fleet, server, site, app$/,
  });
});

test('a value of another type in the place of an input or of options is refused', async () => {
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  await using belay = await connect({ connection: { withDeadline } as unknown as Connection });
  const run = { siteIds: ['34'] };
  const other = null as never;
  const calls: [call: () => Promise<unknown>, message: RegExp][] = [
    [() => connect(other), /^connect: takes an object with connection, address, .*, and got another value$/],
    [() => belay.start(other), /^the input is not an object$/],
    [() => belay.start(run, other), /^start: takes an object with type, key, again, and got another value$/],
    [() => belay.start(run, { type: 'rollOut' } as never), /^type: must be one of backupThenDeploy, /],
    [() => belay.start(run, { key: 'k', again: 'yes' } as never), /^again: is neither true nor false$/],
    [() => belay.list(other), /^list: takes an object/],
    [() => belay.rollouts.start(other), /^the input is not an object$/],
    [() => belay.freezes.begin(other), /^freezes\.begin: takes an object/],
    [() => belay.freezes.thaw(other, { reason: 'over' }), /^scope: is not an object with kind and id$/],
    [() => belay.freezes.thaw({ kind: 'all' }, other), /^freezes\.thaw: takes an object with reason, by/],
  ];
  for (const [call, message] of calls) await assert.rejects(call, { type: 'Usage', message });
});

test('start refuses `again` without a key, and list an outcome that there is not', async () => {
  const starting = startRun({} as Session, { siteIds: ['34'] }, { again: true });
  await assert.rejects(starting, { type: 'Usage', message: 'again: requires a key' });
  const listing = listRuns({} as Session, { outcome: ['failed', 'fine'] as Outcome[] });
  await assert.rejects(listing, { type: 'Usage', message: /^outcome: fine is none of failed, unknown, timed_out/ });
});

test('an execution that is not found is named with its run id', () => {
  const messageOf = (runId?: string) => toBelayError(new WorkflowNotFoundError('', 'deploy:1:k', runId), '').message;
  assert.match(messageOf(), /^there is no deploy:1:k: check the id: `belay list` and/);
  assert.match(messageOf('0d5a'), /^there is no deploy:1:k with the run id 0d5a: check the ids: `belay list` and/);
});

test('an id that is not found and has a character that ids encode says how it would be written', () => {
  const messageOf = (id: string) => toBelayError(new WorkflowNotFoundError('', id, undefined), '').message;
  const encoded = 'each part of an id is percent-encoded, so it may be';
  assert.match(
    messageOf('deploy:34:feature/x'),
    new RegExp(`^there is no deploy:34:feature/x: check the id: ${encoded} deploy:34:feature%2Fx;`),
  );
  assert.match(messageOf('deploy:a b:50%25/ü'), new RegExp(`: ${encoded} deploy:a%20b:50%25%2F%C3%BC;`));
  for (const id of ['deploy:34:feature%2Fx', "deploy:34:a-b_c.d!e~f*g'h(i)", 'deploy:34:\ud800'])
    assert.doesNotMatch(messageOf(id), /percent-encoded/);
});

test('a note over 200 characters is cut, also before half of a character, and the rest stays', () => {
  const long = `${'x'.repeat(198)}😀 and more`;
  const { meta } = withFittingMeta({ siteIds: ['34'], meta: { message: long, full: 'y'.repeat(200), job: '7' } });
  assert.deepEqual(meta, { message: `${'x'.repeat(198)}…`, full: 'y'.repeat(200), job: '7' });
  assert.equal(validateRunInput('deployOnly', { siteIds: ['34'], meta }), null);
  const notes = Array.from({ length: 30 }, (_, index) => [`n${index}`, 'x'.repeat(300)] as const);
  const many = withFittingMeta({ siteIds: ['34'], meta: Object.fromEntries(notes) });
  assert.match(validateRunInput('deployOnly', many) ?? '', /^meta: has \d+ bytes in all/);
  const odd = { siteIds: ['34'], meta: ['no notes'] as unknown as Record<string, string> };
  assert.equal(withFittingMeta(odd), odd);
});

test('a token file in UTF-16 is refused, and one in UTF-8 with a byte order mark is read', async () => {
  const BELAY_API_TOKEN_FILE = join(await tempFolder(), 'token');
  const read = (bytes: Buffer) => writeFile(BELAY_API_TOKEN_FILE, bytes).then(tokenSource({ BELAY_API_TOKEN_FILE }));
  for (const mark of ['\ufeff', '']) {
    const utf16 = Buffer.from(`${mark}secret\r\n`, 'utf16le');
    await assert.rejects(read(utf16), { message: /^BELAY_API_TOKEN_FILE: .* is not UTF-8: save it as UTF-8$/ });
  }
  assert.equal(await read(Buffer.from('\ufeffsecret\r\n')), 'secret');
});

test('a call after close says that the connection was closed', () => {
  const { type, message } = toBelayError(new Error('Channel has been shut down'), 'list runs');
  assert.deepEqual([type, message], ['Usage', 'cannot list runs: the connection was closed: connect again']);
});
