import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireSameEncryption } from '../../src/client/workers.ts';
import { newIdentity } from '../../src/worker/sdk-workers.ts';

const worker = (encrypts: boolean) => newIdentity('https://panel.example', '1', encrypts);
const starter = (encrypts: boolean) => ({ encrypts, taskQueue: 'belay' });

test('a starter that agrees with one of the workers may start, whatever the others are', () => {
  requireSameEncryption(starter(true), [worker(true)]);
  requireSameEncryption(starter(false), [worker(false)]);
  requireSameEncryption(starter(true), [worker(false), worker(true)]);
  requireSameEncryption(starter(false), [worker(true), worker(false)]);
});

test('a starter that agrees with no worker is rejected with the place to change', () => {
  assert.throws(() => requireSameEncryption(starter(false), [worker(true), worker(true)]), {
    type: 'Usage',
    message:
      'the workers of the task queue "belay" encrypt, and this program has no key: ' +
      'set BELAY_CODEC_KEYS_FILE to the key file that they have',
  });
  assert.throws(() => requireSameEncryption(starter(true), [worker(false)]), {
    type: 'Usage',
    message: /do not encrypt, and this program does: set BELAY_CODEC_KEYS_FILE where they run/,
  });
});

test('without workers of Belay, encryption is nothing to agree on', () => {
  requireSameEncryption(starter(true), []);
  requireSameEncryption(starter(false), ['12@host', 'belay-something']);
});
