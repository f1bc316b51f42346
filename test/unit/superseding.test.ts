import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Waiter } from '../../src/contract/operation.ts';
import type { RunWork } from '../../src/features/superseding/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { settleQueue, supersedes, newerRunIn, shortWork } from '../../src/features/superseding/rules.ts';
import { joinQueue, waitersIn, workIn } from '../../src/rules/wait-queue.ts';

const at = (second: number) => new Date(second * 1_000).toISOString();
const runId = (second: number) => `0f1e2d3c-4b5a-6978-8796-${String(second).padStart(12, '0')}`;

const OLDER: RunWork = {
  type: 'deployOnly',
  service: 'http://service',
  serverId: null,
  targets: [siteTarget('34')],
  startedAt: at(1),
  supersedes: false,
  hasBegun: false,
};
const NEWER: RunWork = { ...OLDER, targets: ['33', '34'].map(siteTarget), startedAt: at(2), supersedes: true };

const waiter = (work: RunWork | null, second: number, since = second): Waiter => ({
  ...{ workflowId: `deploy:34:k${second}`, runId: runId(second), since: at(since) },
  ...(work === null ? {} : { work: { ...work, startedAt: at(second) } }),
});

describe('a newer run', () => {
  test('replaces an older one of which it does everything', () => {
    assert.equal(supersedes({ runId: 'n', work: NEWER }, { runId: 'o', work: OLDER }), true);
  });

  const unlike: [string, Partial<RunWork>, Partial<RunWork>][] = [
    ['that has begun', {}, { hasBegun: true }],
    ['unless it supersedes', { supersedes: false }, {}],
    ['of another type', {}, { type: 'backupThenDeploy' }],
    ['of another server', {}, { serverId: '12' }],
    ['for another service', {}, { service: 'http://other' }],
    ['with a site more', {}, { targets: ['34', '35'].map(siteTarget) }],
    ['with an app of the same id', {}, { targets: [{ kind: 'app', id: '34' }] }],
    ['that started after it', {}, { startedAt: at(3) }],
  ];
  for (const [which, newer, older] of unlike) {
    test(`does not replace one ${which}`, () => {
      const [its, other] = [
        { ...NEWER, ...newer },
        { ...OLDER, ...older },
      ];
      assert.equal(supersedes({ runId: 'n', work: its }, { runId: 'o', work: other }), false);
    });
  }

  test('replaces one that does not know its service yet', () => {
    assert.equal(supersedes({ runId: 'n', work: NEWER }, { runId: 'o', work: { ...OLDER, service: null } }), true);
  });

  test('of two that started in the same millisecond, one replaces the other', () => {
    const [a, b] = ['a', 'b'].map((id) => ({ runId: id, work: NEWER }));
    assert.deepEqual([supersedes(a!, b!), supersedes(b!, a!)], [false, true]);
  });
});

describe('the queue of a lock', () => {
  test('keeps the newest of those that replace each other, in the place of the oldest', () => {
    const other = waiter({ ...OLDER, targets: [siteTarget('99')] }, 3);
    const queue = [waiter(OLDER, 1), waiter(NEWER, 2), other, waiter(NEWER, 4), waiter(NEWER, 5)];
    const settled = settleQueue(queue, null);
    assert.deepEqual(
      settled.queue.map((it) => [it.runId, it.since]),
      [
        [runId(5), at(1)],
        [runId(3), at(3)],
      ],
    );
    const replaced = settled.superseded.map(({ older, newer }) => [older.runId, newer.runId]);
    assert.deepEqual(
      replaced,
      [1, 2, 4].map((it) => [runId(it), runId(5)]),
    );
  });

  test('keeps those of which nothing is known', () => {
    const queue = [waiter(null, 1), waiter(NEWER, 2)];
    assert.deepEqual(settleQueue(queue, null), { queue, superseded: [], replacesHolder: null });
  });

  test('names the waiter that replaces the run that holds the lock, and ends those that this run replaces', () => {
    const holder = { workflowId: 'deploy:34:h', runId: runId(3), work: { ...NEWER, startedAt: at(3) } };
    const settled = settleQueue([waiter(OLDER, 1), waiter(NEWER, 4)], holder);
    assert.equal(settled.replacesHolder?.runId, runId(4));
    const begun = { ...holder, work: { ...holder.work, hasBegun: true } };
    const first = settleQueue([waiter(OLDER, 1)], begun);
    assert.deepEqual([first.queue, first.superseded[0]?.newer.runId], [[], runId(3)]);
    assert.equal(settleQueue([waiter(NEWER, 4)], begun).replacesHolder, null);
  });

  test('property: whoever leaves is replaced by a younger one that stays and covers it, in any order of arrival', () => {
    const drawn = fc.uniqueArray(
      fc.record({
        second: fc.integer({ min: 1, max: 30 }),
        since: fc.integer({ min: 1, max: 30 }),
        sites: fc.subarray(['1', '2', '3'], { minLength: 1 }),
        supersedes: fc.boolean(),
        hasBegun: fc.boolean(),
      }),
      { selector: ({ second }) => second },
    );
    fc.assert(
      fc.property(drawn, (runs) => {
        const all = runs.map(({ second, since, sites, ...rest }) =>
          waiter({ ...OLDER, ...rest, targets: sites.map(siteTarget) }, second, since),
        );
        const { queue, superseded } = settleQueue(joinQueue([], all), null);
        assert.equal(queue.length + superseded.length, all.length);
        assert.deepEqual(
          [...queue].map(({ since }) => since).sort(),
          queue.map(({ since }) => since),
        );
        for (const { older, newer } of superseded) {
          assert.ok(queue.some((it) => it.runId === newer.runId));
          assert.ok(supersedes(newer, { runId: older.runId, work: older.work! }));
        }
        // One after another, the same ones leave.
        let oneByOne: Waiter[] = [];
        for (const it of all) oneByOne = settleQueue(joinQueue(oneByOne, [it]), null).queue;
        assert.deepEqual(new Set(oneByOne.map((it) => it.runId)), new Set(queue.map((it) => it.runId)));
      }),
    );
  });
});

describe('a message about a run', () => {
  const message = { workflowId: 'deploy:34:k', runId: runId(2), work: NEWER };

  test('is read back as it was sent', () => {
    assert.deepEqual(newerRunIn(JSON.parse(JSON.stringify(message))), message);
    assert.deepEqual(waitersIn({ waiters: [waiter(NEWER, 2)] }), [waiter(NEWER, 2)]);
  });

  test('property: anything else is dropped, and never fails', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(NEWER)), (value, field) => {
        assert.equal(newerRunIn(value), null);
        const work = workIn({ ...NEWER, [field]: value });
        if (work !== null) assert.deepEqual(Object.keys(work), Object.keys(NEWER));
      }),
    );
  });

  test('leaves out what a run of very many sites is to do, so that a full queue fits into a message', () => {
    const many = { ...NEWER, targets: Array.from({ length: 100 }, (_, index) => siteTarget(`site-${index}`)) };
    assert.equal(shortWork(many), undefined);
    assert.deepEqual(shortWork(NEWER), NEWER);
  });
});
