/** How many runs begin at once, and what the others show. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ADMISSION_ACTIVITY, QUERIES } from '../../../../src/contract/names.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { fresh } from '../../../support/fresh.ts';
import { began } from '../../../support/journal.ts';
import { outcomes } from '../locks/held-locks.ts';
import { eventsOf, phasesOf } from '../../stack/inspect.ts';
import { inVirtualTime, MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';

const COUNT = 40;
const AT_ONCE = 10;

function startMany({ start }: VirtualStack) {
  const sites = Array.from({ length: COUNT }, () => fresh('a'));
  return sites.map((siteId) => ({ siteId, run: start({ siteIds: [siteId] }) }));
}

const waits = (run: Run): boolean => eventsOf(run, 'activityScheduled').some(({ type }) => type === ADMISSION_ACTIVITY);

describe('admission', () => {
  test(
    'of many runs that begin at once, a few are admitted at once, and the others in order',
    inVirtualTime(async (stack) => {
      const { sandbox } = stack;
      const started = startMany(stack);
      const runs = started.map(({ run }) => run);
      assert.deepEqual(new Set(await outcomes(stack, runs)), new Set(['completed']));
      assert.equal(runs.filter(waits).length, COUNT - AT_ONCE);
      const atMs = started.map(({ siteId }) => Date.parse(began(sandbox, 'deployment', siteId)[0]!.at));
      const [first, last] = [atMs.slice(0, AT_ONCE), atMs.slice(AT_ONCE)];
      assert.ok(Math.max(...first) - atMs[0]! < 1_000, first.join());
      for (const [index, ms] of last.slice(1).entries()) assert.ok(ms >= last[index]!, `${index}: ${last.join()}`);
      assert.ok(last.at(-1)! - last[0]! > 1_000, last.join());
    }),
  );

  test(
    'a run that waits for admission says so in its phase, to the query why and in the details of the UI',
    inVirtualTime(async (stack) => {
      const { run } = startMany(stack).at(-1)!;
      await stack.until('its wait', () => waits(run));
      await stack.forward(MOMENT_MS);
      assert.equal(phasesOf(run).at(-1)?.phase, 'admission');
      const { sentence, waiting } = await stack.query<Explanation>(run.workflowId, QUERIES.why);
      assert.equal(sentence, 'waiting for admission: more runs begin than the workers can carry at once');
      assert.equal(waiting?.kind, 'admission');
      const metadata = await stack.query<{ currentDetails: string }>(run.workflowId, '__temporal_workflow_metadata');
      assert.match(metadata.currentDetails, /\*\*admission\*\*.*waiting for admission/s);
      await stack.result(run);
      assert.deepEqual(
        phasesOf(run).map(({ phase }) => phase),
        ['admission', 'checking', 'deploy', 'done'],
      );
    }),
  );

  test(
    'a run that is cancelled while it waits for admission requests nothing',
    inVirtualTime(async (stack) => {
      const { run, siteId } = startMany(stack).at(-1)!;
      await stack.until('its wait', () => waits(run));
      stack.cancel(run);
      const { outcome, error } = await stack.result(run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Cancelled']);
      assert.ok(run.closedMs! - run.startedMs < 1_000);
      assert.equal(error?.message, 'cancelled before it was admitted');
      assert.deepEqual(began(stack.sandbox, 'deployment', siteId), []);
    }),
  );

  test(
    'a run that no worker admits in the time in which it may begin is not started',
    inVirtualTime(
      async (stack) => {
        const { run, siteId } = startMany(stack).at(-1)!;
        const { outcome, error } = await stack.result(run);
        assert.deepEqual([outcome, error?.type], ['not_started', 'NoWorker']);
        assert.match(error?.message ?? '', /^no worker admitted this run within 10m, so it was not started$/);
        assert.ok(Math.abs(run.closedMs! - run.startedMs - 600_000) < 1_000);
        assert.deepEqual(began(stack.sandbox, 'deployment', siteId), []);
      },
      { gate: { pass: (it, goOn) => void (it.kind === 'activity' && it.type === ADMISSION_ACTIVITY ? null : goOn()) } },
    ),
  );
});
