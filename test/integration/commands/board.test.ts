/** The board on a real Temporal server, with a worker and the sandbox. */
import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { readConfiguration } from '../../../src/config/load.ts';
import { createBoard, type Board } from '../../../src/features/board/board.ts';
import { openSession } from '../../../src/client/session.ts';
import type { BoardTarget } from '../../../src/features/board/status.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh, startTestStack, TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 1_000, tries: 2_000 };

describe('the board', { concurrency: 1 }, () => {
  const [a1, a2, other] = [fresh('a'), fresh('a'), fresh('a')];
  let world: TestStack;
  let board: Board;
  const row = async (id: string): Promise<BoardTarget | undefined> => {
    await board.look();
    return board.status().targets.find((it) => it.id === id);
  };

  before(async () => {
    world = await startTestStack();
    const path = join(await tempFolder(), 'belay.yaml');
    writeFileSync(path, `fleets: { shop: { servers: { s1: { sites: [${a1}, ${a2}] } } } }\n`);
    const { address, namespace, uiUrl, sandbox } = world;
    const { session, close } = await openSession({ address, namespace, uiUrl, taskQueue: 'belay' });
    const service = { baseUrl: sandbox.url, token: () => Promise.resolve(TOKEN) };
    board = createBoard({ session, service, configuration: () => readConfiguration({ path, isNamed: true }) });
    atEnd(async () => {
      board.stop();
      await close();
    });
  });

  test('follows a run from its first read to its verdict, and what the service says', async () => {
    const { belay, sandbox } = world;
    sandbox.script({ site: a1 }, { ends: 'never', words: ['building'] });
    const run = await belay.start({ siteIds: [a1], deploy: PACE }, { key: 'k1' });
    await eventually('the deployment', () => began(sandbox, 'deployment', a1).length === 1);
    const running = await eventually('its row', async () => {
      const found = await row(a1);
      return found?.now?.includes('last status "building"') === true && found.service === 'building' && found;
    });
    assert.match(running.now ?? '', /^deployment of a\d+: try \d+ of 2000, last status "building"$/);
    assert.deepEqual([running.server, running.fleet, running.last], ['s1', 'shop', null]);
    sandbox.finish({ site: a1 }, 'failed');
    await run.result().catch(() => undefined);
    const ended = await eventually('its verdict', async () => {
      const found = await row(a1);
      return found?.last?.evidence != null && found.now === null && found;
    });
    assert.deepEqual(
      [ended.last?.outcome, ended.last?.evidence, ended.last?.workflowId, ended.needsAttention],
      ['failed', 'transition', run.workflowId, true],
    );
    assert.match(ended.last?.by ?? '', /@/);
    assert.match(ended.last?.ui ?? '', /\/workflows\/deploy%3A/);
    const { attention, workers, problems } = board.status();
    assert.deepEqual([attention.map(({ kind }) => kind), workers?.length, problems], [['failed'], 1, []]);
  });

  test('shows a target that no fleet has once something ran, and a rollout with its servers', async () => {
    const { belay, sandbox } = world;
    await belay.start({ siteIds: [other], deploy: PACE }, { key: 'k2' }).then((run) => run.result());
    await eventually('its row', async () => (await row(other))?.last?.outcome === 'completed');
    sandbox.script({ site: a2 }, { ends: 'never', words: ['building'] });
    const rollout = await belay.rollouts.start({
      ...{ name: 'nightly', fleet: 'shop', key: 'k3', maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' },
      waves: [{ name: 'all', targets: [{ serverId: 's1', siteIds: [a2] }] }],
      options: { backup: { intervalMs: 1_000, tries: 30 }, deploy: PACE },
    });
    const seen = await eventually('the rollout', async () => {
      await board.look();
      const found = board.status().rollouts.find(({ workflowId }) => workflowId === rollout.workflowId);
      return found?.servers.running === 1 && found;
    });
    assert.deepEqual([seen.name, seen.fleet, seen.needsAttention], ['nightly', 'shop', false]);
    await eventually('the deployment', () => began(sandbox, 'deployment', a2).length === 1);
    sandbox.finish({ site: a2 }, 'completed');
    await rollout.result();
    const ended = await eventually('its verdict', async () => {
      const found = await row(a2);
      return found?.last?.evidence != null && found.now === null && found;
    });
    // The rollout started it.
    assert.equal(ended.last?.by, rollout.workflowId);
    assert.deepEqual(board.status('2999-01-01T00:00:00.000Z').targets, []);
  });
});
