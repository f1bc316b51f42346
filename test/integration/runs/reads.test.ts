/** Reads that fail in real ways. The rules about them are tested in test/sim/rules/answers/reads.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { RunResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import { eventually } from '../../support/eventually.ts';
import { PASSING_READ_FAILURES } from '../../support/fault-answers.ts';
import { began } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { heldBackStack } from '../../support/shared-stack.ts';
import { FAILED, siteAfter } from '../../support/sites.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { workerLog } from '../../support/runtime.ts';
import { fresh, TOKEN, type TestStack } from '../../support/world.ts';

/** The tries bound the time for which failed reads are repeated: a busy machine needs far more than it takes. */
const PACE = { intervalMs: 500, tries: 600 };
/** Ends late enough for reads to fail first. */
const SOON: ScriptPart = { durationMs: 3_000 };

let world: TestStack;
before(async () => {
  world = await heldBackStack();
});

type Kind = 'backup' | 'deployment';
type Read = Pick<Fault, 'answer' | 'times'>;

/** Starts an operation, injects these faults into its reads, and waits for its result. */
async function waited(kind: Kind, faults: readonly Read[]): Promise<RunResult> {
  const { run, route, target } = await (kind === 'backup' ? backUp : deploy)();
  world.sandbox.fault(...faults.map((fault): Fault => ({ ...fault, route, target })));
  return resultOf(run);
}

async function backUp() {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, SOON);
  const run = await world.belay.start({ serverId, siteIds: [], backup: PACE });
  const entry = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
  const target = entry.began!.id;
  return { run, route: 'backup', target } as const;
}

async function deploy() {
  const target = siteAfter(world.sandbox, FAILED, SOON);
  const run = await world.belay.start({ siteIds: [target], deploy: PACE });
  await eventually('the deployment', () => began(world.sandbox, 'deployment', target)[0]);
  return { run, route: 'latest', target } as const;
}

// Most of them wait.
describe('failed reads', { concurrency: 8 }, () => {
  for (const kind of ['backup', 'deployment'] as const) {
    test(`reads of a ${kind} that fail in nine ways are repeated until it completes`, async () => {
      const result = await waited(kind, PASSING_READ_FAILURES);
      assert.equal(result.outcome, 'completed', result.error?.message);
    });
  }
});

test('the token is in no history, log or error of these tests', async () => {
  const texts = { ...(await allHistories(world.client)), 'worker log': workerLog(), 'results and errors': SAID.join() };
  assertNowhere(TOKEN, texts, 'polling');
});
