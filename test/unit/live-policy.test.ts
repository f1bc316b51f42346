/** A worker applies the policy of its file as it is now. */
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readConfiguration } from '../../src/config/load.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { policyOfFile, type CurrentPolicy } from '../../src/config/live-policy.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { createLogger } from '../../src/process/log.ts';
import { newSshSigner } from '../support/ssh-signer.ts';

const FREEZE = 'freezes: { stock: { from: 2026-03-02T00:00, to: 2026-03-03T00:00, reason: inventory } }\n';
const DURING = Date.parse('2026-03-02T12:00:00Z');

let folder: string;
let path: string;
let reads: boolean[];
let policy: CurrentPolicy;
let nowMs: number;

const isFrozen = async () => (await policy()).frozenBy({ target: siteTarget('34') }, DURING).length > 0;

describe('the policy of a worker', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
    path = join(folder, 'belay.yaml');
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    await writeFile(path, '# nothing yet\n');
    [reads, nowMs] = [[], 0];
    const file = { path, isNamed: false };
    const onRead = (isGood: boolean) => void reads.push(isGood);
    policy = await policyOfFile(await readConfiguration(file), {
      ...{ file, onRead, log: createLogger('silent'), clockMs: () => nowMs },
    });
  });

  test('follows its file, and is read again only when the file changes', async () => {
    assert.equal(await isFrozen(), false);
    await writeFile(path, FREEZE);
    assert.deepEqual([await isFrozen(), await isFrozen()], [true, true]);
    assert.deepEqual(reads, [true]);
  });

  test('stays as it was while the file has a mistake, and until it is corrected', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    const { hash } = await policy();
    await writeFile(path, `${FREEZE}windows: { night: { cron: 0 1 * * * } }\n`);
    assert.equal(await isFrozen(), true);
    assert.equal((await policy()).hash, hash);
    await writeFile(path, '# nothing again\n');
    assert.equal(await isFrozen(), false);
    assert.deepEqual(reads, [true, false, true]);
  });

  test('stays as it was while the file is missing, as when one replaces it', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    await rename(path, `${path}.old`);
    assert.equal(await isFrozen(), true);
    assert.deepEqual(reads, [true, false]);
  });

  test('stays as it was while a file that it needs is missing, and follows once that is there', async () => {
    const signers = join(folder, 'signers');
    await writeFile(path, `${FREEZE}approvals: { live: { proof: ssh, signers: { file: ${signers} } } }\n`);
    assert.equal(await isFrozen(), false);
    nowMs += TIMING.worker.retryMs;
    assert.equal(await isFrozen(), false);
    assert.deepEqual(reads, [false]);
    await writeFile(signers, `ana@example.com ${newSshSigner().publicKey}\n`);
    nowMs += TIMING.worker.retryMs;
    assert.equal(await isFrozen(), true);
    assert.deepEqual([reads, (await policy()).isLatest], [[false, true], true]);
  });
});
