/** What those who follow a run see of it. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

/** After the early reads, nothing changes for ten minutes. */
const RARE = { intervalMs: 600_000, tries: 20 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

test('the progress of a run is what the run itself says, and needs no worker', async () => {
  const [taskQueue, siteId] = [fresh('queue'), fresh('a')];
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  const worker = await addWorker(world, taskQueue, world.sandbox.url);
  const belay = await belayOn(world, taskQueue);
  const { workflowId } = await belay.start({ siteIds: [siteId], deploy: RARE });
  const own = await eventually('the wait for the first try', async () => {
    const { waiting } = await belay.get(workflowId).status();
    return waiting?.kind === 'deployment' && Date.parse(waiting.nextReadAt) > Date.now() + 60_000 ? waiting : null;
  });
  await worker.stop();
  const { result, waiting, contact } = await belay.get(workflowId).progress();
  assert.ok(waiting?.kind === 'deployment');
  assert.deepEqual([waiting.try, waiting.tries, waiting.lastStatus], [1, 20, 'building']);
  assert.deepEqual([own.try, own.tries, own.lastStatus], [1, 20, 'building']);
  assert.ok(waiting.nextReadAt >= own.nextReadAt, `${waiting.nextReadAt}, ${own.nextReadAt}`);
  assert.deepEqual([result.phase, result.deployments[0]?.siteId, contact], ['deploy', siteId, 'answers']);
});

test('the progress of a run that waits for a lock names its holder, and that of a run that has ended is its result', async () => {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { ends: 'never' });
  const pace = { intervalMs: 300, tries: 200 };
  const [first, second] = [
    await world.belay.start({ siteIds: [siteId], deploy: pace }),
    await world.belay.start({ siteIds: [siteId], deploy: pace }),
  ];
  const lock = await eventually('a wait for the lock', async () => {
    const both = await Promise.all([first.progress(), second.progress()]);
    return both.flatMap(({ waiting }) => (waiting?.kind === 'lock' && waiting.lockedBy ? [waiting] : []))[0];
  });
  assert.ok([first.workflowId, second.workflowId].includes(lock.lockedBy ?? ''));
  await eventually('a deployment', () => world.sandbox.journal.some(({ began }) => began?.target === siteId));
  world.sandbox.script({ site: siteId }, { durationMs: 0, ends: 'completed' });
  world.sandbox.finish({ site: siteId }, 'completed');
  for (const run of [first, second]) {
    const result = await run.result();
    assert.deepEqual(await run.progress(), { result, waiting: null, contact: 'closed' });
  }
});

test('the progress of a run that waits for admission says so, and the run begins once a worker admits it', async () => {
  const [taskQueue, siteId] = [fresh('queue'), fresh('a')];
  let isOpen = false;
  const isPlace = () => isOpen;
  const places = { admitNewcomer: isPlace, hasPlace: isPlace, takePlace: isPlace };
  const admission = { ...places, waitMs: () => 100, noteRead: () => 0 };
  const worker = await addWorker(world, taskQueue, world.sandbox.url, {}, { admission });
  const belay = await belayOn(world, taskQueue);
  const run = await belay.start({ siteIds: [siteId], deploy: { intervalMs: 300, tries: 200 } });
  const { result } = await eventually('a wait for admission', async () => {
    const progress = await run.progress();
    return progress.waiting?.kind === 'admission' ? progress : null;
  });
  assert.equal(result.phase, 'admission');
  assert.equal((await run.status()).waiting?.kind, 'admission');
  assert.ok(!world.sandbox.journal.some(({ request }) => request.includes(siteId)), 'it has reached the service');
  isOpen = true;
  assert.equal((await run.result()).outcome, 'completed');
  await worker.stop();
});

test('a run without an operation of its own, which waits for the backup of another run, is asked what it waits for', async () => {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  const backup = { intervalMs: 300, tries: 200 };
  const runs = [await world.belay.start({ serverId, backup }), await world.belay.start({ serverId, backup })];
  const lock = await eventually('a wait for the lock', async () => {
    const both = await Promise.all(runs.map((run) => run.progress()));
    return both.flatMap(({ waiting }) => (waiting?.kind === 'lock' && waiting.lockedBy ? [waiting] : []))[0];
  });
  assert.ok(runs.some(({ workflowId }) => workflowId === lock.lockedBy));
  await eventually('a backup', () => world.sandbox.journal.some(({ began }) => began?.target === serverId));
  world.sandbox.finish({ server: serverId }, 'completed');
  for (const run of runs) assert.equal((await run.result()).outcome, 'completed');
});
