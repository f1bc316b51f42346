import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { startCommandLine, BACKUP_PACE, DEPLOY_PACE, PACE, type CommandLine } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import type { Finished } from '../../support/processes.ts';
import { fresh, TOKEN } from '../../support/world.ts';

let on: CommandLine;
before(async () => {
  on = await startCommandLine();
});

function verdict({ code, json }: Finished) {
  const { outcome, error } = json();
  return { code, outcome, type: error?.type ?? null };
}

/** A run that is waiting for a backup, which goes on until it is ended. */
async function waiting(...args: string[]) {
  const serverId = fresh('s');
  on.sandbox.script({ server: serverId }, { ends: 'never' });
  const pace = ['--backup-interval', '300ms', '--backup-tries', '500'];
  const command = on.start('backup', '--server', serverId, ...pace, '--json', ...args);
  const backup = await eventually('the backup', () => began(on.sandbox, 'backup', serverId)[0]);
  const workflowId = await eventually('the run', async () => {
    const { json } = await on.belay('list', '--server', serverId, '--json');
    return (json() as unknown as { runs: { workflowId: string }[] }).runs[0]?.workflowId;
  });
  return { command, workflowId, backup, serverId };
}

// Each row of the table, seen from outside; those of 7 are in unreachable.test.ts.
describe('exit codes', { concurrency: 4 }, () => {
  // The longest one begins first.
  test('4: refused after a trigger was accepted', async () => {
    // Its own service: the others need their token.
    const refused = await startCommandLine({ defaults: { deployment: { durationMs: 60_000 } } });
    const siteId = fresh('a');
    const command = refused.start(
      'deploy',
      '--site',
      siteId,
      '--deploy-interval',
      '1s',
      '--deploy-tries',
      '5',
      '--json',
    );
    await eventually('the deployment', () => began(refused.sandbox, 'deployment', siteId).length === 1);
    refused.sandbox.setToken('another');
    assert.deepEqual(verdict(await command.finished), { code: 4, outcome: 'unknown', type: 'Refused' });
  });

  test('0: all completed', async () => {
    const finished = await on.belay('run', '--server', fresh('s'), '--site', fresh('a'), ...PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 0, outcome: 'completed', type: null });
  });

  test('1: the service said a deployment failed', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' });
    const finished = await on.belay('deploy', '--site', siteId, ...DEPLOY_PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 1, outcome: 'failed', type: 'DeploymentFailed' });
  });

  test('1: the service said a backup failed; nothing is deployed', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    on.sandbox.script({ server: serverId }, { durationMs: 300, ends: 'failed' });
    const finished = await on.belay('run', '--server', serverId, '--site', siteId, ...PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 1, outcome: 'failed', type: 'BackupFailed' });
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
  });

  test('2: usage', async () => {
    const finished = await on.belay('run', '--server', fresh('s'), '--json');
    assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'Usage' });
  });

  for (const command of ['wait', 'status', 'cancel']) {
    test(`2: ${command} of a run that does not exist`, async () => {
      const finished = await on.belay(command, 'deploy:nobody:nothing', '--json');
      assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'NotFound' });
    });
  }

  test('2: wait, status or cancel of a lock, which is no run and may belong to several', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const run = on.start('deploy', '--site', siteId, ...DEPLOY_PACE, '--deploy-tries', '500', '--json');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    for (const command of ['status', 'cancel', 'wait']) {
      const finished = await on.belay(command, `deploy-site:${siteId}`, '--json');
      assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'NotFound' });
    }
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await run.finished).code, 0);
  });

  test('2: a key reused for something else', async () => {
    const siteId = fresh('a');
    const args = ['deploy', '--site', siteId, ...DEPLOY_PACE, '--key', 'k', '--json'];
    assert.equal((await on.belay(...args)).code, 0);
    const finished = await on.belay(...args, '--settle', '1h');
    assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'KeyReused' });
  });

  test('3: a backup did not end within exactly the tries asked for', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '200ms', '--backup-tries', '4'];
    const finished = await on.belay('backup', '--server', serverId, ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 3, outcome: 'timed_out', type: 'BackupTimedOut' });
    assert.equal(finished.json().backup?.polls, 4);
  });

  test('3: a deployment did not end within the tries asked for', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '3'];
    const finished = await on.belay('deploy', '--site', siteId, ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 3, outcome: 'timed_out', type: 'DeploymentTimedOut' });
  });

  test('4: it cannot be told', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 0 });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '3', '--min-evidence', 'transition'];
    const finished = await on.belay('deploy', '--site', siteId, ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 4, outcome: 'unknown', type: 'OutcomeUnknown' });
  });

  test('4: the run was terminated', async () => {
    const { command, workflowId, backup } = await waiting();
    await on.client.workflow.getHandle(workflowId).terminate('by the operator');
    const finished = await command.finished;
    assert.deepEqual(verdict(finished), { code: 4, outcome: 'unknown', type: 'Terminated' });
    assert.match(finished.json().error?.message ?? '', /by the operator/);
    // What was begun is told all the same.
    assert.equal(finished.json().backup?.backupId, backup.began?.id);
  });

  test('5: another run is at it', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    const first = on.start('deploy', '--site', siteId, ...DEPLOY_PACE, '--deploy-tries', '500', '--json');
    await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
    const finished = await on.belay('deploy', '--site', siteId, '--if-busy', 'fail', '--json');
    assert.deepEqual(verdict(finished), { code: 5, outcome: 'not_started', type: 'Busy' });
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await first.finished).code, 0);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('5: somebody else deploys, and does not end', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { ends: 'never' });
    on.sandbox.act({ site: siteId });
    const finished = await on.belay('deploy', '--site', siteId, '--baseline-wait', '500ms', ...DEPLOY_PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 5, outcome: 'not_started', type: 'Busy' });
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 0);
  });

  test('8: cancelled by somebody else', async () => {
    const { command, workflowId } = await waiting();
    const cancelled = await on.belay('cancel', workflowId, '--json');
    assert.equal(cancelled.code, 0);
    assert.deepEqual(verdict(await command.finished), { code: 8, outcome: 'cancelled', type: 'Cancelled' });
  });

  test('8: Ctrl-C with --cancel-on-interrupt', async () => {
    const { command } = await waiting('--cancel-on-interrupt');
    command.process.kill('SIGINT');
    const finished = await command.finished;
    assert.deepEqual(verdict(finished), { code: 8, outcome: 'cancelled', type: 'Cancelled' });
    assert.match(finished.stderr, /Cancelling the run/);
  });

  test('124: --wait-timeout is over; the run goes on, and what is known of it is told', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const wait = ['--wait-timeout', '3s', '--backup-interval', '200ms', '--backup-tries', '500'];
    const finished = await on.belay('backup', '--server', serverId, ...wait, '--json');
    assert.deepEqual(verdict(finished), { code: 124, outcome: null, type: 'StoppedWaiting' });
    const { workflowId, runId, phase } = finished.json();
    assert.ok(workflowId !== null && runId !== null);
    assert.equal(phase, 'backup');
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    on.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await on.belay('wait', workflowId, '--run-id', runId, '--json')).code, 0);
  });

  test('6: a backup that is not there, before anything was triggered', async () => {
    const finished = await on.belay('backup', '--server', fresh('s'), '--backup-id', 'nosuch', '--json');
    assert.deepEqual(verdict(finished), { code: 6, outcome: 'not_started', type: 'Refused' });
  });

  test('3: watch of a site that nobody deploys', async () => {
    const pace = ['--deploy-interval', '100ms', '--deploy-tries', '14'];
    const finished = await on.belay('watch', '--site', fresh('a'), ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 3, outcome: 'timed_out', type: 'DeploymentTimedOut' });
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`${code}: ${signal} ends the waiting and not the run, and says how to go on`, async () => {
      const { command, workflowId, serverId } = await waiting();
      command.process.kill(signal);
      const finished = await command.finished;
      assert.deepEqual(verdict(finished), { code, outcome: null, type: 'StoppedWaiting' });
      assert.equal(finished.json().workflowId, workflowId);
      assert.match(finished.stderr, new RegExp(`belay wait ${workflowId}[^]*belay cancel ${workflowId}`));
      on.sandbox.finish({ server: serverId }, 'completed');
      assert.equal((await on.belay('wait', workflowId, '--json')).json().outcome, 'completed');
      assert.equal(began(on.sandbox, 'backup', serverId).length, 1);
    });
  }
});

test('0: though nobody reads what it prints', async () => {
  const child = on.start('backup', '--server', fresh('s'), ...BACKUP_PACE, '--json');
  child.process.stdout?.destroy();
  child.process.stderr?.destroy();
  assert.equal((await child.finished).code, 0);
});

test('6: the service refuses the token before anything was triggered', async () => {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  on.sandbox.setToken('another');
  try {
    const finished = await on.belay('run', '--server', serverId, '--site', siteId, ...PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 6, outcome: 'not_started', type: 'Refused' });
  } finally {
    on.sandbox.setToken(TOKEN);
  }
  assert.equal(began(on.sandbox, 'backup', serverId).length + began(on.sandbox, 'deployment', siteId).length, 0);
});

test('70: a crash of the command itself; stdout holds exactly one document all the same', async () => {
  const crash = 'data:text/javascript,setTimeout(() => { throw new Error("crashed on purpose") }, 1500)';
  const [serverId, node] = [fresh('s'), { ...on.env, NODE_OPTIONS: `--import=${encodeURI(crash)}` }];
  const { run } = await import('../../support/processes.ts');
  on.sandbox.script({ server: serverId }, { durationMs: 5_000 });
  const finished = await run(['backup', '--server', serverId, ...BACKUP_PACE, '--json'], node);
  assert.deepEqual(verdict(finished), { code: 70, outcome: null, type: 'Internal' });
  assert.match(finished.json().error?.message ?? '', /crashed on purpose/);
});
