import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BackupResult, DeploymentResult, RunResult } from '../../../../src/contract/run.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { PASSING_READ_FAILURES, status } from '../../../support/fault-answers.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';

const PACE = { intervalMs: 5_000, tries: 10 };
/** Ends only when reads have failed. */
const LATER: ScriptPart = { durationMs: 40_000 };
const NEVER: ScriptPart = { ends: 'never', words: ['running'] };

type Kind = 'backup' | 'deployment';
type Read = Pick<Fault, 'answer' | 'times'>;

interface Waited {
  result: RunResult;
  part: BackupResult | DeploymentResult;
  /** How many of its reads hit an injected fault. */
  failed: number;
}

/** Starts an operation, injects these faults into its reads, and waits for its result. */
async function waited(
  stack: VirtualStack,
  kind: Kind,
  script: ScriptPart,
  faults: readonly Read[],
  pace = PACE,
): Promise<Waited> {
  const { sandbox } = stack;
  const { run, route, target, path } = await (kind === 'backup' ? backUp : deploy)(stack, script, pace);
  sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route, target })));
  const result = await stack.result(run);
  const part = kind === 'backup' ? result.backup! : result.deployments[0]!;
  return { result, part, failed: reads(sandbox, path).filter(({ fault }) => fault !== null).length };
}

async function backUp({ sandbox, start, until }: VirtualStack, script: ScriptPart, backup: typeof PACE) {
  const serverId = fresh('s');
  sandbox.script({ server: serverId }, script);
  const run = start({ serverId, siteIds: [], backup });
  const entry = await until('the backup', () => began(sandbox, 'backup', serverId)[0]);
  const target = entry.began!.id;
  return { run, route: 'backup', target, path: `/v1/backups/${target}` } as const;
}

async function deploy({ sandbox, start, until }: VirtualStack, script: ScriptPart, pace: typeof PACE) {
  const target = siteAfter(sandbox, FAILED, script);
  const run = start({ siteIds: [target], deploy: pace });
  await until('the deployment', () => began(sandbox, 'deployment', target)[0]);
  return { run, route: 'latest', target, path: `/v1/sites/${target}/deployments/latest` } as const;
}

describe('failed reads', () => {
  for (const kind of ['backup', 'deployment'] as const) {
    test(
      `nine failed reads in a row of a ${kind} use no try`,
      inVirtualTime(async (stack) => {
        const { result, part, failed } = await waited(stack, kind, NEVER, [{ ...status(503), times: 9 }]);
        assert.equal(result.outcome, 'timed_out');
        assert.equal(failed, 9);
        assert.ok(part.polls >= PACE.tries);
      }),
    );

    test(
      `the tenth failed read in a row of a ${kind} ends it unknown`,
      inVirtualTime(async (stack) => {
        const { result, failed } = await waited(stack, kind, NEVER, [{ ...status(503), times: 99 }]);
        // A deployment is also read during its request.
        assert.ok(failed >= 10, `${failed} reads`);
        assert.equal(result.outcome, 'unknown');
        assert.equal(result.error?.type, 'OutcomeUnknown');
        assert.match(result.error?.message ?? '', /10 reads in a row failed.*503/);
      }),
    );

    test(
      `reads of a ${kind} that fail in nine ways are repeated until it completes`,
      inVirtualTime(async (stack) => {
        const { result, failed } = await waited(stack, kind, LATER, PASSING_READ_FAILURES);
        assert.equal(failed, PASSING_READ_FAILURES.length);
        assert.equal(result.outcome, 'completed', result.error?.message);
      }),
    );

    test(
      `reads of a ${kind} that hang are repeated until it completes`,
      inVirtualTime(async (stack) => {
        const { result, failed } = await waited(stack, kind, LATER, [{ answer: { kind: 'none' }, times: 2 }]);
        assert.equal(failed, 2);
        assert.equal(result.outcome, 'completed', result.error?.message);
      }),
    );

    test(
      `a Retry-After beyond the total time of a ${kind} ends it unknown at once`,
      inVirtualTime(async (stack) => {
        const { result, failed } = await waited(stack, kind, NEVER, [{ ...status(429, '3600'), times: 99 }]);
        assert.equal(failed, 1);
        assert.equal(result.outcome, 'unknown');
        assert.match(result.error?.message ?? '', /429/);
      }),
    );

    test(
      `a token refused permanently during the wait for a ${kind} ends it unknown with Refused`,
      inVirtualTime(async (stack) => {
        const pace = { intervalMs: 1_000, tries: 2 };
        const { result } = await waited(stack, kind, NEVER, [{ ...status(401), times: 999 }], pace);
        assert.equal(result.outcome, 'unknown');
        assert.equal(result.error?.type, 'Refused');
      }),
    );

    test(
      `a token refused for ten reads of a ${kind} uses no try, and the wait continues`,
      inVirtualTime(async (stack) => {
        const { result, failed } = await waited(stack, kind, LATER, [{ ...status(403), times: 12 }]);
        assert.equal(failed, 12);
        assert.equal(result.outcome, 'completed', result.error?.message);
      }),
    );
  }

  test(
    'a site deleted during the wait for its deployment ends it unknown after ten reads',
    inVirtualTime(async ({ sandbox, start, result, until }) => {
      const siteId = siteAfter(sandbox, FAILED, NEVER);
      const run = start({ siteIds: [siteId] });
      await until('its deployment', () => began(sandbox, 'deployment', siteId)[0]);
      sandbox.remove({ site: siteId });
      const { outcome, error } = await result(run);
      assert.equal(outcome, 'unknown');
      assert.match(error?.message ?? '', /10 reads in a row failed.*404/);
    }),
  );

  test(
    'a baseline that cannot be read ten times in a row ends not started and triggers nothing',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault({ ...status(503), route: 'latest', target: siteId, times: 99 });
      const { outcome, error } = await result(start({ siteIds: [siteId] }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
      assert.equal(began(sandbox, 'deployment', siteId).length, 0);
    }),
  );

  for (const code of [400, 401, 403]) {
    test(
      `a site check answered ${code} ends not started and makes no backup`,
      inVirtualTime(async ({ sandbox, start, result }) => {
        const [serverId, siteId] = [fresh('s'), siteAfter(sandbox, FAILED, COMPLETED)];
        sandbox.fault({ ...status(code), route: 'latest', target: siteId, times: 99 });
        const { outcome, error } = await result(start({ serverId, siteIds: [siteId] }));
        assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
        assert.equal(began(sandbox, 'backup', serverId).length, 0);
      }),
    );
  }
});
