/** Superseding on the real server, and what commands make of it. Its rules are in test/sim/rules/locks. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { DEPLOY_PACE, PACE } from '../../support/command-line.ts';
import { commandsOf, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh } from '../../support/world.ts';

const MANY_TRIES = ['--deploy-interval', '200ms', '--deploy-tries', '2000'];

let on: Commands;
before(async () => {
  on = commandsOf(await sharedStack());
});

const begun = (siteId: string) => began(on.sandbox, 'deployment', siteId).length;

/** A deployment that goes on until the test finishes it. */
async function deploying(siteId: string): Promise<void> {
  on.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 300 });
  assert.equal((await on.belay('deploy', '--site', siteId, ...MANY_TRIES, '--detach')).code, 0);
  await eventually('the deployment', () => begun(siteId) === 1);
}

describe('superseding', { concurrency: 4 }, () => {
  test('a command with --follow exits with the verdict of the last of two that replace its run', async () => {
    const siteId = fresh('a');
    await deploying(siteId);
    const args = (key: string) => ['deploy', '--site', siteId, ...MANY_TRIES, '--supersede', '--json', '--key', key];
    const waiting = async (key: string) =>
      eventually(`${key} in the queue`, async () => {
        const { json } = await on.belay('status', `deploy:${siteId}:${key}`, '--json');
        return json().phase === 'queued';
      });
    // A process, because it waits for those that come later.
    const first = on.start(...args('k1'), '--follow').finished;
    await waiting('k1');
    for (const key of ['k2', 'k3']) {
      assert.equal((await on.belay(...args(key), '--detach')).code, 0);
      await waiting(key);
    }
    on.sandbox.finish({ site: siteId }, 'completed');
    const followed = await first;
    const [replaced, last] = [await on.belay(...args('k2')), await on.belay(...args('k3'))];
    assert.deepEqual([followed.code, replaced.code, last.code], [0, 8, 0]);
    assert.deepEqual(followed.json(), last.json());
    const follows = await on.belay('wait', `deploy:${siteId}:k1`, '--follow', '--json');
    assert.deepEqual([follows.code, follows.json()], [0, last.json()]);
    assert.equal(begun(siteId), 2);
  });

  test('a job that is cancelled for a newer one does not cancel the run of that one', async () => {
    const siteId = fresh('a');
    await deploying(siteId);
    const args = (key: string) => ['deploy', '--site', siteId, ...MANY_TRIES, '--supersede', '--json', '--key', key];
    const first = on.start(...args('k1'), '--follow', '--cancel-on-interrupt');
    await eventually('k1 in the queue', async () => {
      const { json } = await on.belay('status', `deploy:${siteId}:k1`, '--json');
      return json().phase === 'queued';
    });
    const newer = on.belay(...args('k2'));
    await eventually('the newer run', () => first.output.stderr.includes('was replaced: waiting for'));
    first.process.kill('SIGINT');
    assert.equal((await first.finished).code, 130);
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await newer).code, 0);
  });

  test('bad combinations are usage errors, and start nothing', async () => {
    const target = ['--server', fresh('s'), '--site', fresh('a')];
    for (const [args, problem] of [
      [['run', ...target, ...PACE, '--follow', '--detach'], /--follow.*--detach|--detach.*--follow/],
      [['run', ...target, ...PACE, '--supersede', '--if-busy', 'fail'], /supersede: waits for the lock/],
      [['backup', '--server', fresh('s'), '--supersede'], /unknown option '--supersede'/],
      [['watch', '--site', fresh('a'), ...DEPLOY_PACE, '--follow'], /unknown option '--follow'/],
      [['wait', 'rollout:x:y', '--follow'], /--follow is for runs/],
    ] as const) {
      const { code, json } = await on.belay(...args, '--json');
      assert.deepEqual([code, json().error?.type], [2, 'Usage'], args.join(' '));
      assert.match(json().error?.message ?? '', problem);
    }
  });
});
