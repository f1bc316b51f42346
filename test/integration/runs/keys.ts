import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DEPLOY_PACE, PACE_INPUT } from '../../support/command-line.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

const deploy = (siteId: string, ...more: string[]) =>
  on.belay('deploy', '--site', siteId, ...DEPLOY_PACE, '--json', ...more);

describe('keys', { concurrency: 4 }, () => {
  test('two concurrent starts with one key share one run and both return its outcome', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 2_000, ends: 'failed' });
    const both = await Promise.all([deploy(siteId, '--key', 'k'), deploy(siteId, '--key', 'k')]);
    assert.deepEqual(
      both.map(({ code }) => code),
      [1, 1],
    );
    const [first, second] = both.map(({ json }) => json());
    assert.deepEqual(first, second);
    assert.equal(first?.workflowId, `deploy:${siteId}:k`);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('a start with the key of a running run joins it', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 2_500 });
    const first = deploy(siteId, '--key', 'k');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const second = await deploy(siteId, '--key', 'k');
    assert.equal(second.json().runId, (await first).json().runId);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('the key of a closed run returns its stored result, even with --again if it completed', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k');
    for (const again of [[], ['--again']]) {
      const { code, json } = await deploy(siteId, '--key', 'k', ...again);
      assert.equal(code, 0);
      assert.deepEqual(json(), first.json());
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('the key of a failed run returns that failure and starts a new run with --again', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' }, { durationMs: 300 });
    const first = await deploy(siteId, '--key', 'k');
    assert.equal(first.code, 1);
    assert.deepEqual((await deploy(siteId, '--key', 'k')).json(), first.json());
    const again = await deploy(siteId, '--key', 'k', '--again');
    assert.equal(again.code, 0);
    assert.notEqual(again.json().runId, first.json().runId);
  });

  test('the key of a failed run is rejected with --again and other input', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' });
    assert.equal((await deploy(siteId, '--key', 'k')).code, 1);
    assert.equal((await deploy(siteId, '--key', 'k', '--site', fresh('a'), '--again')).json().error?.type, 'KeyReused');
  });

  test('the key of a run started by another Temporal client returns its result', async () => {
    const siteId = fresh('a');
    const input = { siteIds: [siteId], deploy: PACE_INPUT };
    const started = { workflowId: `deploy:${siteId}:k`, taskQueue: 'belay', args: [input] };
    await (await on.client.workflow.start('deployOnly', started)).result();
    assert.equal((await deploy(siteId, '--key', 'k')).code, 0);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('a different --meta does not make a different request', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k', '--meta', 'attempt=1');
    const second = await deploy(siteId, '--key', 'k', '--meta', 'attempt=2');
    assert.deepEqual(second.json(), first.json());
  });

  test('an explicit default is the same request as an omitted one', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k');
    const second = await deploy(siteId, '--key', 'k', '--min-evidence', 'settled', '--busy-timeout', '30m');
    assert.deepEqual([second.code, second.json().runId], [0, first.json().runId]);
  });

  test('a key reused with other input exits 2 with an explanation and starts nothing', async () => {
    const siteId = fresh('a');
    await deploy(siteId, '--key', 'k');
    for (const again of [[], ['--again']]) {
      const { code, json } = await deploy(siteId, '--key', 'k', '--site', fresh('a'), ...again);
      assert.equal(code, 2);
      assert.equal(json().error?.type, 'KeyReused');
      assert.match(json().error?.message ?? '', /was started with other input: use another key/);
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });
});
