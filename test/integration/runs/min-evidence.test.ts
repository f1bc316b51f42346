/** Identity, with a service that names its deployments. The rules are tested in test/sim/rules/verdicts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { literalService } from '../../support/literal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { verdictLine } from '../../support/verdict-line.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

test('identity is accepted if POST and latest return the same id and ours is completed', async () => {
  let deployed = false;
  const { url } = await literalService((request, response) => {
    deployed ||= request.method === 'POST';
    const latest = { status: 'completed', id: deployed ? 'd2' : 'd1' };
    response.end(JSON.stringify(request.method === 'POST' ? { id: 'd2' } : latest));
  });
  const taskQueue = fresh('q');
  await addWorker(world, taskQueue, url);
  const belay = await belayOn(world, taskQueue);
  const deploy = { intervalMs: 500, tries: 60, minEvidence: 'identity' } as const;
  const run = await belay.start({ siteIds: [fresh('a')], deploy });
  assert.equal(verdictLine(await resultOf(run)), 'completed by identity');
});
