/** Encryption of what Temporal stores. More of it is in test/integration/temporal. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@temporalio/client';
import { startSandbox } from '../../../../src/sandbox/server.ts';
import { atEnd } from '../../../support/at-end.ts';
import { BACKUP_PACE } from '../../../support/command-line.ts';
import { connectTo } from '../../../support/connect.ts';
import { encryptionOf, newKeyFile } from '../../../support/key-files.ts';
import { run } from '../../../support/processes.ts';
import { newPlace } from '../../../support/shared-temporal.ts';
import { addWorker, temporalEnv, TOKEN } from '../../../support/world.ts';

const CANARY = 'canary-of-a-note-9b1e';

test('a run with encryption is read by who has the key, a clear error for who has none, and stored without its content', async () => {
  const place = await newPlace();
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: 300, ends: 'failed' } } });
  atEnd(() => sandbox.close());
  const keysFile = await newKeyFile('2026-11');
  await addWorker(place, 'belay', sandbox.url, {}, { encryption: encryptionOf(keysFile) });
  const [env, withKeys] = [temporalEnv(place), { BELAY_CODEC_KEYS_FILE: keysFile }];
  const args = ['backup', '--server', 's1', ...BACKUP_PACE, '--meta', `note=${CANARY}`, '--key', 'k', '--json'];
  const { code, json, stderr } = await run(args, { ...env, ...withKeys });
  assert.deepEqual([code, json().outcome, json().meta?.note], [1, 'failed', CANARY], stderr);

  const without = await run(['status', 'backup:s1:k', '--json'], env);
  assert.deepEqual([without.code, without.json().error?.type], [2, 'Usage']);
  assert.match(without.json().error?.message ?? '', /key "2026-11": set BELAY_CODEC_KEYS_FILE/);

  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  const client = new Client({ connection, namespace: place.namespace });
  const { events } = await client.workflow.getHandle('backup:s1:k').fetchHistory();
  const stored = JSON.stringify(events);
  const encoding = (data: Uint8Array | null | undefined) => Buffer.from(data ?? []).toString();
  const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  assert.equal(encoding(input?.metadata?.encoding), 'binary/encrypted');
  // Without encryption, the note is in the input, as base64.
  assert.ok(!stored.includes(CANARY) && !stored.includes(Buffer.from(`"${CANARY}"`).toString('base64')));
});
