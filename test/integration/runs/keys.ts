import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DEPLOY_PACE, startCommandLine, type CommandLine } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { fresh } from '../../support/world.ts';

let on: CommandLine;
before(async () => {
  on = await startCommandLine();
});

const deploy = (siteId: string, ...more: string[]) =>
  on.belay('deploy', '--site', siteId, ...DEPLOY_PACE, '--json', ...more);

describe('keys', { concurrency: 4 }, () => {
  test('the same key twice at once is one run, and both get its verdict', async () => {
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

  test('a key whose run is in flight joins it', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 2_500 });
    const first = deploy(siteId, '--key', 'k');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const second = await deploy(siteId, '--key', 'k');
    assert.equal(second.json().runId, (await first).json().runId);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('a key whose run closed gives its stored result, with --again too when it is completed', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k');
    for (const again of [[], ['--again']]) {
      const { code, json } = await deploy(siteId, '--key', 'k', ...again);
      assert.equal(code, 0);
      assert.deepEqual(json(), first.json());
    }
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('a key whose run failed gives that failure, and starts anew with --again', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' }, { durationMs: 300 });
    const first = await deploy(siteId, '--key', 'k');
    assert.equal(first.code, 1);
    assert.deepEqual((await deploy(siteId, '--key', 'k')).json(), first.json());
    const again = await deploy(siteId, '--key', 'k', '--again');
    assert.equal(again.code, 0);
    assert.notEqual(again.json().runId, first.json().runId);
  });

  test('a run that failed and is asked for again with other input is refused, too', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' });
    assert.equal((await deploy(siteId, '--key', 'k')).code, 1);
    assert.equal((await deploy(siteId, '--key', 'k', '--site', fresh('a'), '--again')).json().error?.type, 'KeyReused');
  });

  test('a run that was started in another language is joined, too', async () => {
    const siteId = fresh('a');
    const input = { siteIds: [siteId], deploy: { intervalMs: 200, tries: 20 } };
    const started = { workflowId: `deploy:${siteId}:k`, taskQueue: 'belay', args: [input] };
    await (await on.client.workflow.start('deployOnly', started)).result();
    assert.equal((await deploy(siteId, '--key', 'k')).code, 0);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('another note does not make it another request', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k', '--meta', 'attempt=1');
    const second = await deploy(siteId, '--key', 'k', '--meta', 'attempt=2');
    assert.deepEqual(second.json(), first.json());
  });

  test('a default written out is the same request', async () => {
    const siteId = fresh('a');
    const first = await deploy(siteId, '--key', 'k');
    const second = await deploy(siteId, '--key', 'k', '--min-evidence', 'settled', '--busy-timeout', '30m');
    assert.deepEqual([second.code, second.json().runId], [0, first.json().runId]);
  });

  test('a key reused with other input exits 2, says so, and starts nothing', async () => {
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
