/** Runs with encryption on a server whose database is a file, which is searched for what the runs contain. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { createCodecServer } from '../../../src/encryption/server/codec-server.ts';
import type { Encryption } from '../../../src/encryption/encryption.ts';
import { childEnvironment } from '../../../src/config/environment/environment.ts';
import { toJson } from '../../../src/encryption/server/payload-json.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { encodingFailures } from '../../../src/worker/bundle/workflow-source.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { encryptionOf, newKeyFile } from '../../support/key-files.ts';
import { executableWith } from '../../support/shared-temporal.ts';
import { startTemporal, temporalExecutable, tempFolder } from '../../support/temporal.ts';
import { allFiles } from '../../support/token.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { addWorker, log, temporalEnv, TOKEN } from '../../support/world.ts';

type Namespace = 'plain' | 'encrypted' | 'changing';

let address: string;
let database: string;
let sandbox: Sandbox;
let keysFile: string;
let encryption: Encryption;
const clients = {} as Record<Namespace, Client>;

before(async () => {
  database = join(await tempFolder(), 'database');
  await mkdir(database);
  const executable = await executableWith(['plain', 'encrypted', 'changing'].flatMap((it) => ['--namespace', it]));
  ({ address } = await startTemporal({ executable, dbFile: join(database, 'temporal.db') }));
  sandbox = await startSandbox({ token: TOKEN, defaults: { deployment: { durationMs: 400 } } });
  atEnd(() => sandbox.close());
  keysFile = await newKeyFile('2026-11');
  encryption = encryptionOf(keysFile);
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  for (const namespace of ['plain', 'encrypted', 'changing'] as const) {
    clients[namespace] = new Client({ connection, namespace });
    await eventually(`namespace ${namespace}`, () =>
      connection.workflowService.countWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      ),
    );
  }
  await addWorker({ address, namespace: 'plain' }, 'belay', sandbox.url);
  await addWorker({ address, namespace: 'encrypted' }, 'belay', sandbox.url, {}, { encryption });
});

const withKeys = () => ({ BELAY_CODEC_KEYS_FILE: keysFile });

/** A command of a starter in this namespace. */
const belay = (namespace: Namespace, env: Record<string, string>, ...args: string[]) =>
  runInProcess(args, { ...temporalEnv({ address, namespace }), ...env });

/** Texts that only the service, or the one who starts a run, knows. */
const canariesOf = (mark: Namespace) => ({
  word: `${mark}-word-canary`,
  failure: `${mark}-failure-canary`,
  backupId: `${mark}-backup-canary`,
  note: `${mark}-note-canary`,
});

/** A run whose first site is deployed and whose second one the service refuses. */
async function runIn(namespace: Namespace, env: Record<string, string>): Promise<RunResult> {
  const { word, failure, backupId, note } = canariesOf(namespace);
  const [server, good, bad] = [`${namespace}-server`, `${namespace}-good`, `${namespace}-bad`];
  const json = (code: number, body: object) =>
    ({ kind: 'body', code, type: 'application/json', text: JSON.stringify(body) }) as const;
  sandbox.script({ site: good }, { words: [word], durationMs: 1_500 });
  sandbox.fault(
    { route: 'create-backup', target: server, answer: json(201, { id: backupId }) },
    { route: 'backup', target: backupId, answer: json(200, { status: 'completed' }) },
    { route: 'deploy', target: bad, answer: json(422, { message: failure }) },
  );
  const sites = ['--site', good, '--site', bad, '--keep-going'];
  const pace = ['--backup-interval', '500ms', '--deploy-interval', '500ms', '--meta', `note=${note}`];
  const { json: result, stderr } = await belay(
    namespace,
    env,
    ...['run', '--server', server, ...sites, ...pace, '--key', 'k', '--json'],
  );
  assert.doesNotMatch(stderr, /Warning/);
  return result();
}

const runs = {} as Record<Namespace, RunResult>;

/** Temporal's files, and those that SQLite keeps beside them. */
const databaseTexts = async () => Object.values(await allFiles(database)).join('\n');

const eventsOf = async (namespace: Namespace, workflowId: string) =>
  (await clients[namespace].workflow.getHandle(workflowId).fetchHistory()).events ?? [];

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
  before(async () => {
    runs.plain = await runIn('plain', {});
    runs.encrypted = await runIn('encrypted', withKeys());
  });

  test('has the same outcome as one without, and its starter reads all of it', async () => {
    assert.deepEqual(shapeOf(runs.encrypted), shapeOf(runs.plain));
    const { failure, backupId, note } = canariesOf('encrypted');
    const { workflowId } = runs.encrypted;
    const read = (...args: string[]) => belay('encrypted', withKeys(), ...args, '--json');
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
      const found = await databaseTexts();
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
    for (const command of [['status', workflowId!], ['wait', workflowId!], ['list']]) {
      const without = await belay('encrypted', {}, ...command, '--json');
      assert.deepEqual([without.code, without.json().error?.type], [2, 'Usage']);
      assert.match(without.json().error?.message ?? '', /key "2026-11": set BELAY_CODEC_KEYS_FILE/);
      const { json } = await belay('encrypted', other, ...command, '--json');
      assert.match(json().error?.message ?? '', /key "2026-11": add that key to \S+keys\.json/);
    }
    const deploy = ['deploy', '--site', 'encrypted-unwanted', '--key', 'k', '--json'];
    const started = (await belay('encrypted', {}, ...deploy)).json();
    assert.match(started.error?.message ?? '', /encrypt, and this program has no key: set BELAY_CODEC_KEYS_FILE/);
    const reversed = (await belay('plain', withKeys(), ...deploy)).json();
    assert.match(reversed.error?.message ?? '', /do not encrypt, and this program does: set BELAY_CODEC_KEYS_FILE/);
    assert.deepEqual(posts(sandbox, '/v1/sites/encrypted-unwanted/deploy'), []);
  });

  test('is decoded by the codec server as Temporal stored it, for the Temporal CLI as well', async () => {
    const { workflowId } = runs.encrypted;
    const codec = encryptionOf(keysFile, true).dataConverter.payloadCodecs![0]!;
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
        ...['workflow', 'show', '--workflow-id', workflowId!, '--address', address, '--namespace', 'encrypted'],
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
    const place = { address, namespace: 'changing' };
    const before = await addWorker(place, 'belay', sandbox.url);
    sandbox.script({ site: 'changing-site' }, { words: [canariesOf('changing').word], ends: 'never' });
    const begin = ['deploy', '--site', 'changing-site', '--deploy-interval', '500ms', '--deploy-tries', '1000'];
    const { json, stderr } = await belay('changing', {}, ...begin, '--detach', '--json');
    const { workflowId } = json();
    assert.ok(workflowId, stderr);
    await eventually('a read of the site', () =>
      sandbox.journal.some(({ said }) => said === canariesOf('changing').word),
    );
    await before.stop();
    await addWorker(place, 'belay', sandbox.url, {}, { encryption: encryptionOf(keysFile, true) });
    sandbox.finish({ site: 'changing-site' }, 'completed');
    const wait = ['wait', workflowId, '--json'];
    const strict = await belay('changing', withKeys(), ...wait);
    assert.match(strict.json().error?.message ?? '', /not encrypted: set BELAY_CODEC_ACCEPT_PLAIN=1/);
    const waited = await belay('changing', { ...withKeys(), BELAY_CODEC_ACCEPT_PLAIN: '1' }, ...wait);
    assert.equal(waited.json().outcome, 'completed', waited.stderr);
    const [first, last] = [
      (await eventsOf('changing', workflowId))[0],
      (await eventsOf('changing', workflowId)).at(-1),
    ];
    assert.equal(encodingOf(first?.workflowExecutionStartedEventAttributes?.input), 'json/plain');
    assert.equal(encodingOf(last?.workflowExecutionCompletedEventAttributes?.result), 'binary/encrypted');
  });

  test('replays with the keys and the bundle of encrypting workers, and so do those from before and between', async () => {
    const workflowBundle = await encodingFailures(await testBundle());
    for (const namespace of ['encrypted', 'plain', 'changing'] as const) {
      const { dataConverter } = encryptionOf(keysFile, namespace !== 'encrypted');
      const client = new Client({ connection: clients[namespace].connection, namespace, dataConverter });
      const histories = client.workflow.list().intoHistories();
      let replayed = 0;
      for await (const { error } of Worker.runReplayHistories({ workflowBundle, dataConverter }, histories)) {
        assert.equal(error, undefined);
        replayed += 1;
      }
      assert.ok(replayed >= 2, `${replayed} histories`);
    }
  });
});

test('without encryption, payloads and failures are stored as plain text', async () => {
  runs.plain ??= await runIn('plain', {});
  const events = await eventsOf('plain', runs.plain.workflowId!);
  const failure = events.at(-1)?.workflowExecutionFailedEventAttributes?.failure;
  assert.match(failure?.message ?? '', /plain-failure-canary/);
  assert.equal(failure?.encodedAttributes ?? null, null);
  const all = Buffer.from(proto.temporal.api.history.v1.History.encode({ events }).finish()).toString('latin1');
  assert.ok(all.includes('json/plain') && !all.includes('binary/encrypted'));
});
