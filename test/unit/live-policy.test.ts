/** A worker applies the policy of its file as it is now. */
import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readConfiguration, type Configuration } from '../../src/config/load.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { policyOfFile, type CurrentPolicy } from '../../src/config/live-policy.ts';
import { pino } from 'pino';
import { TIMING } from '../../src/contract/timing.ts';
import { allowedSigners, newSshSigner } from '../support/ssh-signer.ts';

const FREEZE = 'freezes: { stock: { from: 2026-03-02T00:00, to: 2026-03-03T00:00, reason: inventory } }\n';
const DURING = Date.parse('2026-03-02T12:00:00Z');

let folder: string;
let path: string;
let reads: boolean[];
let logged: string[];
let nowMs: number;
/** What others do to the file while the worker waits. */
let meanwhile: () => Promise<void>;
let policy: CurrentPolicy;

const isFrozen = async () => (await policy()).frozenBy({ target: siteTarget('34') }, DURING).length > 0;

describe('the policy of a worker', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
    path = join(folder, 'belay.yaml');
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    await writeFile(path, '# nothing yet\n');
    [reads, logged, nowMs, meanwhile] = [[], [], 0, () => Promise.resolve()];
    policy = await begin(await readConfiguration(file()));
  });

  const file = () => ({ path, isNamed: false });
  const begin = (first: Configuration) =>
    policyOfFile(first, {
      ...{ file: file(), clockMs: () => nowMs, wait: () => meanwhile() },
      log: pino({}, { write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg) }),
      onRead: (isGood) => void reads.push(isGood),
    });

  test('follows its file, and is read again only when the file changes', async () => {
    assert.equal(await isFrozen(), false);
    await writeFile(path, FREEZE);
    assert.deepEqual([await isFrozen(), await isFrozen()], [true, true]);
    assert.deepEqual(reads, [true]);
  });

  test('is said to be in force only if it changed, and a setting that is read at the start needs a restart', async () => {
    const inForce = 'belay.yaml changed: its policy is in force now';
    const restart = 'belay.yaml changed: restart this worker to apply statuses';
    await writeFile(path, '# something else\n');
    await policy();
    assert.deepEqual(logged, []);
    await writeFile(path, 'statuses: { deployment: { deploying: completed } }\n');
    await policy();
    assert.deepEqual(logged, [restart]);
    await writeFile(path, `statuses: { deployment: { deploying: completed } }\n${FREEZE}`);
    await policy();
    assert.deepEqual(logged, [restart, inForce, restart]);
    await writeFile(path, '# as it was\n');
    await policy();
    assert.deepEqual(logged, [restart, inForce, restart, inForce]);
  });

  test('is said to be in force where only the targets of a report changed', async () => {
    process.env['REPORT_TOKEN'] = 'token';
    const report = (site: string) =>
      `notify: { reports: { hub: { kind: github, repository: a/b, as: status, token: { env: REPORT_TOKEN }, for: { sites: [${site}] } } } }\n`;
    await writeFile(path, report('1'));
    policy = await begin(await readConfiguration(file()));
    await writeFile(path, report('22'));
    await policy();
    delete process.env['REPORT_TOKEN'];
    assert.deepEqual(logged, ['belay.yaml changed: its policy is in force now']);
  });

  test('is said to be in force where only the servers of a fleet changed', async () => {
    const fleet = (sites: string) => `fleets: { shop: { servers: { 12: { sites: [${sites}] } } } }\n`;
    await writeFile(path, fleet('34'));
    policy = await begin(await readConfiguration(file()));
    await writeFile(path, fleet('34, 35'));
    await policy();
    assert.deepEqual(logged, ['belay.yaml changed: its policy is in force now']);
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

  test('stays as it was when its file becomes empty, as on a full disk', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    for (const text of ['', '\n \n']) {
      await writeFile(path, text);
      assert.equal(await isFrozen(), true, JSON.stringify(text));
      assert.equal((await policy()).isLatest, false, JSON.stringify(text));
    }
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    assert.equal((await policy()).isLatest, true);
    assert.deepEqual(reads, [true, false, false, true]);
  });

  test('stays as it was while its file is written in place, although each part of it is valid', async () => {
    const fleets = 'fleets: { shop: { servers: { 12: { sites: [34] } } } }\n';
    await writeFile(path, fleets + FREEZE);
    assert.equal(await isFrozen(), true);
    await writeFile(path, fleets);
    meanwhile = () => appendFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    meanwhile = () => Promise.resolve();
    assert.equal(await isFrozen(), true);
    assert.deepEqual(reads, [true, true]);
  });

  test('stays as it was if the file is removed between the look at it and its reading', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    await writeFile(path, `${FREEZE}# until spring\n`);
    meanwhile = () => rm(path);
    assert.equal(await isFrozen(), true);
    meanwhile = () => Promise.resolve();
    assert.equal(await isFrozen(), true);
    assert.deepEqual(reads, [true, false]);
  });

  test('stays as it was while the file is missing, as when one replaces it', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    await rename(path, `${path}.old`);
    assert.equal(await isFrozen(), true);
    assert.deepEqual(reads, [true, false]);
  });

  test('is the latest again once the file that was in force is back, or the one that was too much is gone', async () => {
    await writeFile(path, FREEZE);
    assert.equal(await isFrozen(), true);
    await rename(path, `${path}.old`);
    assert.equal((await policy()).isLatest, false);
    await rename(`${path}.old`, path);
    assert.deepEqual([await isFrozen(), (await policy()).isLatest], [true, true]);
    assert.deepEqual(reads, [true, false, true]);
    await rm(path);
    [reads, policy] = [[], await begin({})];
    await writeFile(path, 'freezes: 1\n');
    assert.equal((await policy()).isLatest, false);
    await rm(path);
    assert.equal((await policy()).isLatest, true);
    assert.deepEqual(reads, [false, true]);
  });

  test('is that of a file that changed while the worker was starting', async () => {
    const first = await readConfiguration(file());
    await writeFile(path, FREEZE);
    policy = await begin(first);
    assert.equal(await isFrozen(), true);
    assert.deepEqual(reads, [true]);
  });

  test('is read again if what its file names was missing, and has come since', async () => {
    const signers = join(folder, 'signers');
    const approval = `approvals: { boss: { proof: ssh, signers: { file: ${signers} } } }\n`;
    await writeFile(path, FREEZE + approval);
    assert.equal(await isFrozen(), false);
    assert.equal((await policy()).isLatest, false);
    await writeFile(signers, allowedSigners({ ana: newSshSigner() }));
    nowMs += TIMING.worker.policyRetryMs;
    assert.equal(await isFrozen(), true);
    assert.equal((await policy()).isLatest, true);
    assert.deepEqual(reads, [false, true]);
  });
});
