import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { BACKUP_PACE, DEPLOY_PACE, PACE } from '../../support/command-line.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { freePort } from '../../../src/process/free-port.ts';
import { CLI, environment, start, type Finished } from '../../support/processes.ts';
import { fresh, TOKEN } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

function verdict({ code, json }: Finished) {
  const { outcome, error } = json();
  return { code, outcome, type: error?.type ?? null };
}

/** A run that waits for a backup, which continues until the test finishes it. */
async function waiting(...args: string[]) {
  const serverId = fresh('s');
  on.sandbox.script({ server: serverId }, { ends: 'never' });
  const pace = ['--backup-interval', '1s', '--backup-tries', '2000'];
  const command = on.start('backup', '--server', serverId, ...pace, '--json', ...args);
  const backup = await eventually('the backup', () => began(on.sandbox, 'backup', serverId)[0]);
  const workflowId = await eventually('the run', async () => {
    const { json } = await on.belay('list', '--server', serverId, '--json');
    return (json() as unknown as { runs: { workflowId: string }[] }).runs[0]?.workflowId;
  });
  return { command, workflowId, backup, serverId };
}

/** A run that waits for a deployment, which continues until the test finishes it. */
async function deploying(siteId: string): Promise<string> {
  on.sandbox.script({ site: siteId }, { ends: 'never' });
  const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
  const started = await on.belay('deploy', '--site', siteId, ...pace, '--detach', '--json');
  await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
  return String(started.json().workflowId);
}

// Every exit code of the README. Exit 7 is in outages/absent-temporal.test.ts.
describe('exit codes', { concurrency: 4 }, () => {
  test('exit 1: the service reports a failed deployment', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' });
    const finished = await on.belay('deploy', '--site', siteId, ...DEPLOY_PACE, '--json');
    assert.deepEqual(verdict(finished), { code: 1, outcome: 'failed', type: 'DeploymentFailed' });
  });

  for (const command of ['wait', 'status', 'cancel']) {
    test(`exit 2: ${command} names a run that does not exist`, async () => {
      const finished = await on.belay(command, 'deploy:nobody:nothing', '--json');
      assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'NotFound' });
    });
  }

  test('exit 2: status, cancel or wait names a lock instead of a run', async () => {
    const siteId = fresh('a');
    const workflowId = await deploying(siteId);
    for (const command of ['status', 'cancel', 'wait']) {
      const finished = await on.belay(command, `deploy-site:${siteId}`, '--json');
      assert.deepEqual(verdict(finished), { code: 2, outcome: null, type: 'NotFound' });
    }
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
  });

  test('exit 3: a backup does not end within exactly the given tries', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const pace = ['--backup-interval', '200ms', '--backup-tries', '4'];
    const finished = await on.belay('backup', '--server', serverId, ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 3, outcome: 'timed_out', type: 'BackupTimedOut' });
    assert.equal(finished.json().backup?.polls, 4);
  });

  test('exit 4: the outcome cannot be known', async () => {
    const siteId = fresh('a');
    on.sandbox.script({ site: siteId }, { durationMs: 0 });
    const pace = ['--deploy-interval', '200ms', '--deploy-tries', '3', '--min-evidence', 'transition'];
    const finished = await on.belay('deploy', '--site', siteId, ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 4, outcome: 'unknown', type: 'OutcomeUnknown' });
  });

  test('exit 4: the run is terminated', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const asked = ['--server', serverId, '--site', siteId, '--backup-interval', '1s', '--backup-tries', '2000'];
    const workflowId = String((await on.belay('run', ...asked, '--detach', '--json')).json().workflowId);
    const backup = await eventually('the backup', () => began(on.sandbox, 'backup', serverId)[0]);
    // Its id is known to the run only with the answer to the request.
    await eventually('its id', async () => (await on.belay('status', workflowId, '--json')).json().backup?.backupId);
    await on.client.workflow.getHandle(workflowId).terminate('by the operator\u001b]0;x\u0007\u009b2J\n::add-mask::a');
    const finished = await on.belay('wait', workflowId, '--json');
    assert.deepEqual(verdict(finished), { code: 4, outcome: 'unknown', type: 'Terminated' });
    assert.match(finished.json().error?.message ?? '', /by the operator/);
    const texts = await Promise.all(
      [['wait', workflowId], ['status', workflowId], ['list']].map((it) => on.belay(...it)),
    );
    for (const { stdout, stderr } of [finished, ...texts]) {
      // eslint-disable-next-line no-control-regex -- the test asserts that there are none
      assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|^\s*::/m);
    }
    // The backup that began is still reported.
    assert.equal(finished.json().backup?.backupId, backup.began?.id);
    // Nothing was deployed.
    const [deployment] = finished.json().deployments;
    assert.deepEqual([deployment?.outcome, deployment?.polls], ['not_started', 0]);
  });

  test('exit 5: another run holds the lock', async () => {
    const siteId = fresh('a');
    const first = await deploying(siteId);
    const finished = await on.belay('deploy', '--site', siteId, '--if-busy', 'fail', '--json');
    assert.deepEqual(verdict(finished), { code: 5, outcome: 'not_started', type: 'Busy' });
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await on.belay('wait', first)).code, 0);
    assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });

  test('exit 8: Ctrl-C cancels the run with --cancel-on-interrupt', async () => {
    const { command } = await waiting('--cancel-on-interrupt');
    command.process.kill('SIGINT');
    const finished = await command.finished;
    assert.deepEqual(verdict(finished), { code: 8, outcome: 'cancelled', type: 'Cancelled' });
    assert.match(finished.stderr, /Cancelling the run/);
  });

  test('exit 124: --wait-timeout elapses, the phase is reported, and the run continues', async () => {
    const serverId = fresh('s');
    on.sandbox.script({ server: serverId }, { ends: 'never' });
    const wait = ['--wait-timeout', '10s', '--backup-interval', '1s', '--backup-tries', '2000'];
    const { finished: waited } = on.start('backup', '--server', serverId, ...wait, '--json');
    const finished = await waited;
    assert.deepEqual(verdict(finished), { code: 124, outcome: null, type: 'StoppedWaiting' });
    const { workflowId, runId } = finished.json();
    assert.ok(workflowId !== null && runId !== null);
    const again = ['wait', workflowId, '--run-id', runId, '--wait-timeout', '2s', '--json'];
    // On a busy machine, a run may take longer to begin than a command waits.
    let { phase } = finished.json();
    await eventually('the phase', async () => (phase ??= (await on.belay(...again)).json().phase) !== null);
    assert.equal(phase, 'backup');
    await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
    on.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await on.belay('wait', workflowId, '--run-id', runId, '--json')).code, 0);
  });

  test('exit 6: the backup of --backup-id does not exist', async () => {
    const finished = await on.belay('backup', '--server', fresh('s'), '--backup-id', 'nosuch', '--json');
    assert.deepEqual(verdict(finished), { code: 6, outcome: 'not_started', type: 'Refused' });
  });

  test('exit 3: watch sees no deployment within the given tries', async () => {
    const pace = ['--deploy-interval', '100ms', '--deploy-tries', '14'];
    const finished = await on.belay('watch', '--site', fresh('a'), ...pace, '--json');
    assert.deepEqual(verdict(finished), { code: 3, outcome: 'timed_out', type: 'DeploymentTimedOut' });
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`exit ${code}: ${signal} stops the wait and not the run, and prints how to continue`, async () => {
      const { command, workflowId, serverId } = await waiting();
      command.process.kill(signal);
      const finished = await command.finished;
      assert.deepEqual(verdict(finished), { code, outcome: null, type: 'StoppedWaiting' });
      assert.equal(finished.json().workflowId, workflowId);
      assert.match(
        finished.stderr,
        new RegExp(`npx belay-deploy wait ${workflowId}[^]*npx belay-deploy cancel ${workflowId}`),
      );
      on.sandbox.finish({ server: serverId }, 'completed');
      assert.equal((await on.belay('wait', workflowId, '--json')).json().outcome, 'completed');
      assert.equal(began(on.sandbox, 'backup', serverId).length, 1);
    });
  }
});

test('exit 0: stdout and stderr are closed early', async () => {
  const child = on.start('backup', '--server', fresh('s'), ...BACKUP_PACE, '--json');
  child.process.stdout?.destroy();
  child.process.stderr?.destroy();
  assert.equal((await child.finished).code, 0);
});

test('exit 2: stdout cannot be written, unless the verdict is another one', async () => {
  const intoFullDisk = async (...args: string[]) => {
    const shell = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, CLI, ...args];
    const child = spawn('sh', shell, { env: environment(on.env), stdio: ['ignore', 'ignore', 'pipe'] });
    const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode, said };
  };
  const listed = await intoFullDisk('list', '--json');
  assert.equal(listed.code, 2);
  assert.match(listed.said, /^belay: cannot write to stdout: ENOSPC/);
  const missing = await intoFullDisk('backup', '--server', fresh('s'), '--backup-id', 'nosuch', '--json');
  assert.equal(missing.code, 6);
});

test('exit 0: a program runs until it is told to stop, though its log cannot be written', async () => {
  const port = String(await freePort());
  const shell = ['-c', 'exec "$0" "$@" 2> /dev/full', process.execPath, CLI, 'board', '--port', port];
  const child = spawn('sh', shell, { env: environment(on.env), stdio: 'ignore' });
  const ended = once(child, 'close');
  await eventually('an answer, or its end', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    return child.exitCode !== null || answer?.ok === true;
  });
  child.kill('SIGTERM');
  await ended;
  assert.equal(child.exitCode, 0);
});

test('exit 6: the service refuses the token before any trigger', async () => {
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

test('exit 70: the command crashes and still prints exactly one JSON document', async () => {
  const crash = 'data:text/javascript,process.on("SIGUSR2", () => { throw new Error("crashed on purpose") })';
  const [serverId, node] = [fresh('s'), { ...on.env, NODE_OPTIONS: `--import=${encodeURI(crash)}` }];
  on.sandbox.script({ server: serverId }, { ends: 'never' });
  const command = start(['backup', '--server', serverId, '--backup-interval', '1s', '--json'], node);
  await eventually('the backup', () => began(on.sandbox, 'backup', serverId).length === 1);
  command.process.kill('SIGUSR2');
  const finished = await command.finished;
  on.sandbox.finish({ server: serverId }, 'completed');
  assert.deepEqual(verdict(finished), { code: 70, outcome: null, type: 'Internal' });
  assert.match(finished.json().error?.message ?? '', /crashed on purpose/);
});
