import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agreeOnEncryption } from '../../src/client/workers.ts';
import { newIdentity } from '../../src/worker/sdk-workers.ts';

const worker = (encrypts: boolean) => newIdentity('https://panel.example', '1', encrypts);
const starter = (encrypts: boolean) => ({ encrypts, taskQueue: 'belay' });

test('a starter that agrees with one of the workers may start, whatever the others are', () => {
  agreeOnEncryption(starter(true), [worker(true)]);
  agreeOnEncryption(starter(false), [worker(false)]);
  agreeOnEncryption(starter(true), [worker(false), worker(true)]);
  agreeOnEncryption(starter(false), [worker(true), worker(false)]);
});

test('a starter that agrees with no worker is rejected with the place to change', () => {
  assert.throws(() => agreeOnEncryption(starter(false), [worker(true), worker(true)]), {
    type: 'Usage',
    message:
      'the workers of the task queue "belay" encrypt, and this program has no key: ' +
      'set BELAY_CODEC_KEYS_FILE to the key file that they have',
  });
  assert.throws(() => agreeOnEncryption(starter(true), [worker(false)]), {
    type: 'Usage',
    message: /do not encrypt, and this program does: set BELAY_CODEC_KEYS_FILE where they run/,
  });
});

test('without workers of Belay, encryption is nothing to agree on', () => {
  agreeOnEncryption(starter(true), []);
  agreeOnEncryption(starter(false), ['12@host', 'belay-something']);
});
