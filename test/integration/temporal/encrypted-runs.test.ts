/** Runs with encryption on a server whose database is a file, which is searched for what the runs contain. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { childEnvironment } from '../../../src/config/environment/environment.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { bundleFor } from '../../../src/worker/bundle/workflow-source.ts';
import { openSession } from '../../../src/client/session.ts';
import { createBoard } from '../../../src/features/board/board.ts';
import { createCodecServer, toJson } from '../../../src/encryption/codec-server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { posts } from '../../support/journal.ts';
import { encryptionOf, newKeyFile } from '../../support/key-files.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { temporalExecutable } from '../../support/temporal.ts';
import { log } from '../../support/runtime.ts';
import { addWorker, TOKEN } from '../../support/world.ts';
import { canariesOf, runIn, startPlace, type Namespace, type Place } from './namespaces.ts';

let place: Place;
const runs = {} as Record<Namespace, RunResult>;
before(async () => {
  place = await startPlace();
  runs.plain = await runIn(place, 'plain');
  runs.encrypted = await runIn(place, 'encrypted', place.withKeys);
  // Temporal updates its lists a moment later.
  for (const namespace of ['plain', 'encrypted'] as const) {
    const query = `WorkflowId = '${runs[namespace].workflowId}' AND ExecutionStatus = 'Failed'`;
    await eventually(query, async () => (await place.clients[namespace].workflow.count(query)).count === 1);
  }
});

const eventsOf = async (namespace: Namespace, workflowId: string) =>
  (await place.clients[namespace].workflow.getHandle(workflowId).fetchHistory()).events ?? [];

/** As Temporal stored it. */
const inputOf = async (namespace: Namespace, workflowId: string) =>
  (await eventsOf(namespace, workflowId))[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];

const encodingOf = (list: { payloads?: Payload[] | null } | null | undefined) =>
  Buffer.from(list?.payloads?.[0]?.metadata?.encoding ?? []).toString();

/** An event as the Temporal CLI prints it. */
interface Shown {
  userMetadata: { summary: { data: string } };
  workflowExecutionFailedEventAttributes?: { failure: { encodedAttributes: { data: string } } };
}

const base64 = (text: string) => Buffer.from(text).toString('base64').slice(0, -2);

/** What stands before each occurrence. */
const contextsOf = (text: string, canary: string): string[] =>
  text
    .split(canary)
    .slice(0, -1)
    .map((before) => before.slice(-'backup-record:'.length));

const shapeOf = ({ outcome, phase, backup, deployments, error }: RunResult) => ({
  ...{ outcome, phase, error: error?.type, backup: backup?.outcome },
  deployments: deployments.map((it) => [it.siteId, it.outcome, it.evidence].join().replace(/^\w+-/, '')),
});

describe('a run with encryption', () => {
  test('has the same outcome as one without, and its starter reads all of it', async () => {
    assert.deepEqual(shapeOf(runs.encrypted), shapeOf(runs.plain));
    const { failure, backupId, note } = canariesOf('encrypted');
    const { workflowId } = runs.encrypted;
    const read = (...args: string[]) => place.belay('encrypted', place.withKeys, ...args, '--json');
    const status = (await read('status', workflowId!)).json();
    const waited = (await read('wait', workflowId!)).json();
    const { runs: listed } = (await read('list')).json() as unknown as { runs: RunResult[] };
    for (const result of [runs.encrypted, status, waited, listed[0]!]) {
      assert.equal(result.backup?.backupId, backupId);
      assert.ok(result.error?.message.includes(failure), result.error?.message);
      assert.equal(result.meta?.note, note);
      assert.deepEqual(shapeOf(result), shapeOf(runs.encrypted));
    }
  });

  test('leaves nothing of its content in the database of Temporal, except for ids', async () => {
    const text = await eventually('the records of both backups', async () => {
      const found = await place.databaseText();
      return ['plain', 'encrypted'].every((it) => found.includes(`backup-record:${it}-backup-canary`)) && found;
    });
    // The search looks inside: without encryption, the same texts are there.
    for (const canary of Object.values(canariesOf('plain'))) assert.ok(text.includes(canary), `no ${canary}`);
    const { backupId, ...others } = canariesOf('encrypted');
    for (const canary of Object.values(others)) assert.deepEqual(contextsOf(text, canary), []);
    // A record is found by its workflow id, which contains the id of the backup.
    assert.deepEqual([...new Set(contextsOf(text, backupId))], ['backup-record:']);
    assert.ok(!text.includes(TOKEN));
    // What no codec encrypts: ids, search attributes, types of failures.
    for (const known of [
      'deploy-site:encrypted-good',
      'BelaySite',
      'encrypted-bad',
      'Refused',
      'encrypting in epoch',
    ]) {
      assert.ok(text.includes(known), `no ${known}`);
    }
  });

  test('is a clear error for a starter without the key, which starts nothing', async () => {
    const { workflowId } = runs.encrypted;
    const other = { BELAY_CODEC_KEYS_FILE: await newKeyFile('2025-01') };
    for (const command of [
      ['status', workflowId!],
      ['wait', workflowId!],
    ]) {
      const without = await place.belay('encrypted', {}, ...command, '--json');
      assert.deepEqual([without.code, without.json().error?.type], [2, 'Usage']);
      assert.match(without.json().error?.message ?? '', /key "2026-11": set BELAY_CODEC_KEYS_FILE/);
      const { json } = await place.belay('encrypted', other, ...command, '--json');
      assert.match(json().error?.message ?? '', /key "2026-11": add that key to \S+keys\.json/);
    }
    const deploy = ['deploy', '--site', 'encrypted-unwanted', '--key', 'k', '--json'];
    const started = (await place.belay('encrypted', {}, ...deploy)).json();
    assert.match(started.error?.message ?? '', /encrypt, and this program has no key: set BELAY_CODEC_KEYS_FILE/);
    const reversed = (await place.belay('plain', place.withKeys, ...deploy)).json();
    assert.match(reversed.error?.message ?? '', /do not encrypt, and this program does: set BELAY_CODEC_KEYS_FILE/);
    assert.deepEqual(posts(place.sandbox, '/v1/sites/encrypted-unwanted/deploy'), []);
  });

  test('is listed without the key, with what Temporal keeps as plain text and a line that names both', async () => {
    const { workflowId } = runs.encrypted;
    const plain = { BELAY_CODEC_KEYS_FILE: await newKeyFile('2025-01') };
    const { code, json, stderr } = await place.belay('encrypted', plain, 'list', '--json');
    const [listed] = (json() as unknown as { runs: RunResult[] }).runs;
    assert.deepEqual([code, listed?.workflowId], [0, workflowId]);
    assert.match(
      stderr,
      new RegExp(`^belay: cannot read all of ${workflowId}: .* key "2026-11": add that key to \\S+\n$`),
    );
    const { outcome, phase, meta, backup, deployments, error, unreadable } = listed!;
    assert.deepEqual([outcome, phase, meta, error?.type], ['not_started', 'done', null, 'Refused']);
    assert.deepEqual([backup?.serverId, backup?.outcome], ['encrypted-server', null]);
    assert.deepEqual(
      deployments.map((it) => [it.siteId, it.outcome]),
      [
        ['encrypted-good', null],
        ['encrypted-bad', null],
      ],
    );
    assert.match(unreadable ?? '', /key "2026-11"/);
    const { stdout } = await place.belay('encrypted', {}, 'list');
    assert.match(
      stdout,
      /not_started .*encrypted-good, encrypted-bad .* the reason cannot be read: .*\n1 run: 1 not started/,
    );
  });

  test('that is in flight is shown and cancelled without the key', async () => {
    const site = 'encrypted-endless';
    place.sandbox.script({ site }, { words: ['building'], ends: 'never' });
    const begin = ['deploy', '--site', site, '--deploy-interval', '500ms', '--detach', '--json'];
    const { workflowId } = (await place.belay('encrypted', place.withKeys, ...begin)).json();
    const top = await eventually('the run in the list', async () => {
      const shown = await place.belay('encrypted', {}, 'top');
      assert.equal(shown.code, 0, shown.stderr);
      return shown.stdout.includes(site) && shown.stdout.includes('cannot be read') && shown;
    });
    assert.match(
      top.stdout,
      new RegExp(`${workflowId} .*cannot be read: a payload is encrypted with the key "2026-11"`),
    );
    assert.match(top.stderr, new RegExp(`^belay: cannot read all of ${workflowId}: a payload is encrypted`));
    const { session, close } = await openSession({ address: place.address, namespace: 'encrypted' });
    atEnd(close);
    const board = createBoard({ session, service: null });
    atEnd(async () => board.stop());
    const problems = await eventually('the problems of the board', async () => {
      await board.look();
      const found = board.status().problems.map(({ source, message }) => `${source}: ${message}`);
      return found.length === 2 && found;
    });
    assert.match(problems[0]!, new RegExp(`^what is in flight: cannot read all of ${workflowId}: .* key "2026-11"`));
    assert.match(
      problems[1]!,
      new RegExp(`^past runs: cannot read all of ${runs.encrypted.workflowId}: .* key "2026-11"`),
    );
    const { targets } = board.status();
    assert.equal(targets.find(({ id }) => id === site)?.run?.workflowId, workflowId);
    assert.equal(targets.find(({ id }) => id === 'encrypted-good')?.last?.workflowId, runs.encrypted.workflowId);
    const cancelled = await place.belay('encrypted', {}, 'cancel', workflowId!);
    assert.deepEqual([cancelled.code, cancelled.stdout.split(':')[0]], [0, 'cancellation requested']);
    assert.match(cancelled.stderr, /^belay: cannot read deploy:\S+ a payload is encrypted with the key "2026-11"/);
    const waited = await place.belay('encrypted', place.withKeys, 'wait', workflowId!, '--json');
    assert.equal(waited.json().error?.type, 'Cancelled');
    const again = await place.belay('encrypted', {}, 'cancel', workflowId!, '--json');
    assert.deepEqual([again.code, again.json().workflowId, again.json().error?.type], [0, workflowId, 'Usage']);
    assert.match(again.stderr, /had ended: there was nothing to cancel/);
  });

  test('is decoded by the codec server as Temporal stored it, for the Temporal CLI as well', async () => {
    const { workflowId } = runs.encrypted;
    const codec = encryptionOf(place.keysFile, true).dataConverter.payloadCodecs![0]!;
    const server = createCodecServer({ codec, log, origin: null, token: () => Promise.resolve(TOKEN) });
    atEnd(() => server.close());
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const [stored] = await inputOf('encrypted', workflowId!);
    const headers = {
      'content-type': 'application/json',
      'x-namespace': 'encrypted',
      authorization: `Bearer ${TOKEN}`,
    };
    const body = JSON.stringify(toJson([stored!]));
    assert.ok(!body.includes(base64('siteIds')));
    const answer = await fetch(`${url}/decode`, { method: 'POST', headers, body });
    const { payloads } = (await answer.json()) as { payloads: { data: string }[] };
    const input = JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString()) as RunInput;
    assert.deepEqual(input.siteIds, ['encrypted-good', 'encrypted-bad']);

    const shown = await promisify(execFile)(
      await temporalExecutable(),
      [
        ...['workflow', 'show', '--workflow-id', workflowId!, '--address', place.address, '--namespace', 'encrypted'],
        ...['--output', 'json', '--codec-endpoint', url, '--codec-auth', `Bearer ${TOKEN}`],
      ],
      { env: childEnvironment() },
    );
    const { events } = JSON.parse(shown.stdout) as { events: Shown[] };
    const message = events.at(-1)?.workflowExecutionFailedEventAttributes?.failure.encodedAttributes.data ?? '';
    assert.match(Buffer.from(message, 'base64').toString(), /encrypted-failure-canary/);
    assert.match(Buffer.from(events[0]!.userMetadata.summary.data, 'base64').toString(), /Back up encrypted-server/);
  });

  test('continues one that began without, if plain payloads are accepted', async () => {
    const changing = { address: place.address, namespace: 'changing' };
    const before = await addWorker(changing, 'belay', place.sandbox.url);
    place.sandbox.script({ site: 'changing-site' }, { words: [canariesOf('changing').word], ends: 'never' });
    const begin = ['deploy', '--site', 'changing-site', '--deploy-interval', '500ms', '--deploy-tries', '2000'];
    const { json, stderr } = await place.belay('changing', {}, ...begin, '--detach', '--json');
    const { workflowId } = json();
    assert.ok(workflowId, stderr);
    await eventually('a read of the site', () =>
      place.sandbox.journal.some(({ said }) => said === canariesOf('changing').word),
    );
    await before.stop();
    await addWorker(changing, 'belay', place.sandbox.url, {}, { encryption: encryptionOf(place.keysFile, true) });
    const accepting = { ...place.withKeys, BELAY_CODEC_ACCEPT_PLAIN: '1' };
    // The run began in plain text, and its worker answers encrypted.
    const doctor = await place.belay('changing', accepting, 'doctor');
    assert.match(doctor.stdout, /^ok +worker: /m);
    place.sandbox.finish({ site: 'changing-site' }, 'completed');
    const wait = ['wait', workflowId, '--json'];
    const strict = await place.belay('changing', place.withKeys, ...wait);
    assert.match(strict.json().error?.message ?? '', /not encrypted: set BELAY_CODEC_ACCEPT_PLAIN=1/);
    const waited = await place.belay('changing', accepting, ...wait);
    assert.equal(waited.json().outcome, 'completed', waited.stderr);
    const [first, last] = [
      (await eventsOf('changing', workflowId))[0],
      (await eventsOf('changing', workflowId)).at(-1),
    ];
    assert.equal(encodingOf(first?.workflowExecutionStartedEventAttributes?.input), 'json/plain');
    assert.equal(encodingOf(last?.workflowExecutionCompletedEventAttributes?.result), 'binary/encrypted');
  });
});

test('without encryption, payloads and failures are stored as plain text', async () => {
  const events = await eventsOf('plain', runs.plain.workflowId!);
  const failure = events.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  assert.match(failure?.message ?? '', /plain-failure-canary/);
  assert.equal(failure?.encodedAttributes ?? null, null);
  const all = Buffer.from(proto.temporal.api.history.v1.History.encode({ events }).finish()).toString('latin1');
  assert.ok(all.includes('json/plain') && !all.includes('binary/encrypted'));
});

test('a history with encryption replays with the keys and the bundle of encrypting workers, and so do those from before and between', async () => {
  const workflowBundle = await bundleFor(await testBundle(), { encodesFailures: true, isVersioned: false });
  for (const namespace of ['encrypted', 'plain', 'changing'] as const) {
    const { dataConverter } = encryptionOf(place.keysFile, namespace !== 'encrypted');
    const client = new Client({ connection: place.clients[namespace].connection, namespace, dataConverter });
    const histories = client.workflow.list().intoHistories();
    let replayed = 0;
    for await (const { error } of Worker.runReplayHistories({ workflowBundle, dataConverter }, histories)) {
      assert.equal(error, undefined);
      replayed += 1;
    }
    assert.ok(replayed >= 2, `${replayed} histories`);
  }
});
