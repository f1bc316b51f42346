/** Two people who extend, begin or end the same freeze in the same moment. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { Session } from '../../src/client/session.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { createFreezes } from '../../src/features/freezes/client.ts';
import type { AdHocFreeze } from '../../src/features/freezes/shapes.ts';

const HOUR_MS = 3_600_000;
const workflowId = 'freeze:all';

interface Run {
  runId: string;
  freeze: AdHocFreeze;
  isOver: boolean;
  /** Called when the run ends. */
  end: () => void;
}

/** One freeze of Temporal. */
class Place {
  readonly runs: Run[] = [];
  /** What happens after the next look at the freeze, before anything else does. */
  afterLook: (() => Promise<unknown>) | null = null;
  /** Whether a worker answers. */
  confirms = true;
  private deadlineMs = Infinity;

  get inForce(): Run | undefined {
    return this.runs.find(({ isOver }) => !isOver);
  }

  begin(freeze: AdHocFreeze): Run {
    const before = this.inForce;
    const run = { runId: `r${this.runs.length}`, freeze, isOver: false, end: () => undefined };
    if (before !== undefined) this.end(before);
    this.runs.push(run);
    return run;
  }

  end(run: Run): void {
    run.isOver = true;
    run.end();
  }

  readonly session = {
    ...{ namespace: 'default', taskQueue: 'belay', by: 'ana', encrypts: false },
    workers: () => Promise.resolve({ pollers: [{ identity: 'w', version: null }], current: [null] }),
    client: {
      connection: {},
      withDeadline: async (deadlineMs: number, act: () => Promise<unknown>) => {
        const outerMs = this.deadlineMs;
        this.deadlineMs = deadlineMs;
        return act().finally(() => (this.deadlineMs = outerMs));
      },
      workflow: {
        getHandle: (_id: string, runId?: string) => this.handle(runId),
        start: (
          _type: string,
          {
            args: [freeze],
            workflowIdConflictPolicy: policy,
          }: { args: [AdHocFreeze]; workflowIdConflictPolicy: string },
        ) => {
          if (policy === 'FAIL' && this.inForce !== undefined)
            throw new WorkflowExecutionAlreadyStartedError('taken', workflowId, 'freeze');
          if (policy !== 'FAIL') assert.ok(this.deadlineMs <= Date.now() + TIMING.freeze.inForceAfterMs);
          return Promise.resolve({ firstExecutionRunId: this.begin(freeze).runId });
        },
        list: async function* () {
          // Nothing waits.
        },
      },
    },
  } as unknown as Session;

  private handle(runId: string | undefined) {
    const gone = new WorkflowNotFoundError('gone', workflowId, runId);
    const existing = () => {
      const run = runId === undefined ? this.inForce : this.runs.find((it) => it.runId === runId && !it.isOver);
      if (run === undefined) throw gone;
      return run;
    };
    return {
      describe: async () => {
        const { runId: id, freeze } = existing();
        const { afterLook } = this;
        this.afterLook = null;
        await afterLook?.();
        return { status: { name: 'RUNNING' }, memo: { freeze }, runId: id };
      },
      executeUpdate: async () => {
        const run = existing();
        if (!this.confirms) await new Promise<void>((resolve) => (run.end = resolve));
        if (run.isOver) throw gone;
        return { problem: null, note: null };
      },
      terminate: () => Promise.resolve().then(() => this.end(existing())),
    };
  }
}

const first = { forMs: HOUR_MS, reason: 'incident' };
const longer = { forMs: 24 * HOUR_MS, reason: 'Christmas', extend: true, backups: true, override: 'never' as const };
const shorter = { forMs: 2 * HOUR_MS, reason: 'it lasts', extend: true };

/** Extends a freeze by each, the second one while the first one waits for its confirmation. */
async function extendedAtOnce(...[one, other]: [typeof shorter, typeof shorter]) {
  const place = new Place();
  const freezes = createFreezes(place.session);
  await freezes.begin(first);
  let extending: ReturnType<typeof freezes.begin> | undefined;
  place.afterLook = async () => {
    place.confirms = false;
    extending = freezes.begin(one);
    while (place.runs.length < 2) await new Promise(setImmediate);
    place.confirms = true;
  };
  const begun = [await freezes.begin(other), await extending!];
  return { begun, inForce: place.inForce!.freeze };
}

describe('a freeze that two people extend at once', () => {
  for (const [what, one, other] of [
    ['the weaker one replaces the other', longer, shorter],
    ['the stronger one replaces the other', shorter, longer],
  ] as const)
    test(`holds back what both asked for, although ${what}`, async () => {
      const { begun, inForce } = await extendedAtOnce(one, other);
      const lastsMs = Date.parse(inForce.until) - Date.parse(inForce.since);
      assert.ok(lastsMs >= longer.forMs, `${lastsMs}`);
      assert.deepEqual([inForce.blocks, inForce.override], [['deploy', 'backup'], 'never']);
      assert.equal(begun.at(-1)!.freeze, inForce);
    });
});

test('a freeze that is over is replaced by the first one that begins, and the second one is refused', async () => {
  const place = new Place();
  const past = new Date(Date.now() - HOUR_MS).toISOString();
  const scope = { kind: 'all' } as const;
  const over: AdHocFreeze = { scope, since: past, until: past, reason: 'x', by: 'ana', blocks: [], override: 'reason' };
  place.begin(over);
  const freezes = createFreezes(place.session);
  place.afterLook = () => freezes.begin({ ...longer, extend: false });
  await assert.rejects(freezes.begin(first), { type: 'Usage', message: /^everything is frozen already until / });
  assert.equal(place.inForce?.freeze.reason, longer.reason);
});

describe('a thaw', () => {
  test('does not end a freeze that is extended in the same moment', async () => {
    const place = new Place();
    const freezes = createFreezes(place.session);
    await freezes.begin(first);
    place.afterLook = () => freezes.begin(longer);
    const thawing = freezes.thaw({ kind: 'all' }, { reason: 'over' });
    await assert.rejects(thawing, { type: 'Usage', message: /^freeze:all was extended or set anew in this moment/ });
    assert.ok(place.inForce?.freeze.reason.startsWith(longer.reason));
  });

  test('of a freeze that ends in the same moment finds none', async () => {
    const place = new Place();
    const freezes = createFreezes(place.session);
    await freezes.begin(first);
    place.afterLook = () => Promise.resolve(place.end(place.inForce!));
    const thawing = freezes.thaw({ kind: 'all' }, { reason: 'over' });
    await assert.rejects(thawing, { type: 'NotFound', message: /^there is no freeze:all/ });
  });
});
