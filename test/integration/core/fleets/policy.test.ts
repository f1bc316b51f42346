/** A freeze and an approval on the real server, by commands. Their rules are in test/sim/rules/runs. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { newPeople, questionOf, type People } from '../../../support/approving.ts';
import { commandsOf, type Commands } from '../../../support/commands.ts';
import { DEPLOY_PACE, PACE } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { posts } from '../../../support/journal.ts';
import { resetToEnd } from '../../../support/reset.ts';
import { WITH_SSH_KEYGEN } from '../../../support/with-ssh-keygen.ts';
import { fresh, startTestStack } from '../../../support/world.ts';

const SIGNED = fresh('signed');
const [SERVER, SITE] = [fresh('s'), fresh('a')];
const HOUR = ['--for', '1h', '--reason', 'disks', '--by', 'ana'];

let on: Commands;
let people: People | null;
before(async () => {
  people = WITH_SSH_KEYGEN.skip === undefined ? await newPeople(['ana', 'bob'], ['eve']) : null;
  const quick = { durationMs: 300 };
  const rule = people && {
    proof: 'ssh' as const,
    need: 2,
    signers: { file: people.signers },
    for: { sites: [SIGNED] },
  };
  const fleets = { shop: { servers: new Map([[SERVER, { sites: [SITE] }]]) } };
  const configuration = { fleets, ...(rule === null ? {} : { approvals: { production: rule } }) };
  on = commandsOf(await startTestStack({ defaults: { backup: quick, deployment: quick }, configuration }));
});

const sent = (site: string) => posts(on.sandbox, `/v1/sites/${site}/deploy`).length;

const deploy = async (site: string) => {
  const { code, json } = await on.belay('deploy', '--site', site, ...DEPLOY_PACE, '--json');
  return [code, json().error?.type ?? null, sent(site)];
};

const detached = async (site: string, ...more: string[]) => {
  const started = await on.belay('deploy', '--site', site, ...DEPLOY_PACE, '--detach', '--json', ...more);
  assert.equal(started.code, 0, started.stderr);
  return String(started.json().workflowId);
};

describe('the inventory of the worker', { concurrency: 1 }, () => {
  test('refuses a run from a machine without belay.yaml that would back up another server', async () => {
    const { code, json } = await on.belay('run', '--server', fresh('s'), '--site', SITE, ...PACE, '--json');
    const { outcome, error, backup, deployments } = json();
    assert.deepEqual([code, outcome, error?.type], [2, 'not_started', 'Usage'], error?.message);
    assert.match(error?.message ?? '', new RegExp(`site ${SITE} belongs to server ${SERVER}, not to`));
    assert.deepEqual([backup?.outcome ?? null, deployments[0]?.outcome, sent(SITE)], [null, 'not_started', 0]);
  });
});

describe('a freeze', { concurrency: 1 }, () => {
  test('of a fleet is confirmed by the worker that knows it, and refused for one that it does not know', async () => {
    const frozen = await on.belay('freeze', '--fleet', 'shop', ...HOUR);
    assert.equal(frozen.code, 0, frozen.stderr);
    assert.deepEqual(await deploy(SITE), [5, 'Frozen', 0]);
    await on.belay('thaw', '--fleet', 'shop', '--reason', 'over');
    const typo = await on.belay('freeze', '--fleet', 'blog', ...HOUR);
    assert.equal(typo.code, 2);
    assert.match(typo.stderr, /nothing is frozen.*no fleet blog, only shop/);
    await eventually('its end', async () => (await on.belay('freezes')).code === 0);
    assert.deepEqual(await deploy(SITE), [0, null, 1]);
  });

  test('of one site holds back no other, until it is thawed', async () => {
    const [site, other] = [fresh('a'), fresh('a')];
    const frozen = await on.belay('freeze', '--site', site, ...HOUR);
    assert.equal(frozen.code, 0, frozen.stderr);
    assert.deepEqual(await deploy(site), [5, 'Frozen', 0]);
    assert.deepEqual(await deploy(other), [0, null, 1]);
    const thawed = await on.belay('thaw', '--site', site, '--reason', 'over', '--by', 'ana');
    assert.deepEqual([thawed.code, thawed.stdout], [0, `freeze:site:${site} has ended\n`]);
    assert.deepEqual(await deploy(site), [0, null, 1]);
  });

  test('wakes a run that waits for its end', async () => {
    const site = fresh('a');
    await on.belay('freeze', '--site', site, ...HOUR);
    const workflowId = await detached(site, '--if-frozen', 'wait');
    await eventually('the wait for the thaw', async () => {
      const { stdout } = await on.belay('status', workflowId, '--json');
      return (JSON.parse(stdout) as { waiting?: { kind: string } }).waiting?.kind === 'freeze';
    });
    assert.equal(sent(site), 0);
    await on.belay('thaw', '--site', site, '--reason', 'over');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
    assert.equal(sent(site), 1);
  });
});

describe('belay approve', WITH_SSH_KEYGEN, () => {
  test('signs what it shows, counts people, and lets the run deploy once enough have approved', async () => {
    const { as } = people!;
    const { workflowId, plan } = await questionOf(on.belay, await detached(SIGNED));
    const shown = await on.belay('approvals');
    assert.match(
      shown.stdout,
      new RegExp(
        `${workflowId}\n  waits for 2 approvals \\(production\\) until \\S+Z: \`npx belay-deploy approve ${workflowId} `,
      ),
    );
    const first = await on.belay('approve', workflowId, '--plan', plan.slice(0, 12), ...as('ana'));
    assert.equal(first.code, 0, first.stderr);
    assert.match(
      first.stderr,
      new RegExp(`does: deploy 1 site or app\n(?:.*\n)*plan: sha256:${plan}\n  no server: ${SIGNED}\n`),
    );
    assert.match(first.stdout, /was approved by ana@example\.com; it waits for 1 more of 2 approvals \(production\)/);
    const twice = await on.belay('approve', workflowId, '--plan', plan, ...as('ana'));
    assert.equal(twice.code, 2);
    assert.match(twice.stderr, /ana@example\.com has approved already/);
    const stranger = await on.belay('approve', workflowId, '--plan', plan, ...as('eve'));
    assert.equal(stranger.code, 2, stranger.stderr);
    assert.equal(sent(SIGNED), 0);
    const second = await on.belay('approve', workflowId, '--plan', plan, ...as('bob'), '--json');
    const { error, ...taken } = JSON.parse(second.stdout) as Record<string, unknown>;
    assert.deepEqual([second.code, error, taken['decision'], taken['proof']], [0, null, 'approve', 'ssh']);
    const waited = await on.belay('wait', workflowId, '--json');
    assert.equal(waited.code, 0, waited.stderr);
    assert.deepEqual([waited.json().held?.[0]?.by, sent(SIGNED)], ['ana@example.com, bob@example.com', 1]);
    const late = await on.belay('approve', workflowId, '--plan', plan, ...as('ana'));
    assert.equal(late.code, 2);
    assert.match(late.stderr, /asks for no approval now/);
  });

  test('is not needed by a run that was reset while it asked: it sends nothing, and ends unknown', async () => {
    const workflowId = await detached(SIGNED, '--key', fresh('reset'));
    await questionOf(on.belay, workflowId);
    const before = sent(SIGNED);
    const runId = await resetToEnd(on.client, workflowId);
    const { json, code } = await on.belay('wait', workflowId, '--run-id', runId, '--json');
    assert.deepEqual([code, json().outcome, sent(SIGNED) - before], [4, 'unknown', 0], json().error?.message);
    assert.match(json().error?.message ?? '', /the run was reset.*nothing was sent/);
  });
});
