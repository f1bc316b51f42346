/**
 * Plays runs that people approve or reject, and that replace each other, from a tape. Everything else that waits for a
 * lock, a freeze or a backup is in the scenarios of the chaos model.
 */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { ApprovalQuestion } from '../../../src/features/approvals/shapes.ts';
import { APPROVAL_UPDATES, QUERIES } from '../../../src/contract/names.ts';
import { misruled } from '../checks/waits.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { searchAttribute } from '../stack/inspect.ts';
import { queryRun } from '../stack/query.ts';
import type { Tape } from '../tape.ts';
import type { Run } from '../temporal/types.ts';
import { createWorld, START_MS, type World } from '../world.ts';
import type { Caches } from './play.ts';
import { startRun } from './start-run.ts';

export interface WaitsPlay {
  world: World;
  runs: Run[];
  findings: string[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const [RUNS, ANSWERS, BUSY_MS, END_MS] = [6, 8, 10 * MINUTE, 4 * 60 * MINUTE];
const APPROVAL = 'audit';
const SITES = [['a1'], ['a1', 'a2'], ['a2', 'a1'], ['a2']];
const PEOPLE = ['ana', 'bob', 'eve'];

export async function playWaits(sandboxes: Sandboxes, tape: Tape, caches: Caches): Promise<WaitsPlay> {
  const world = createWorld(sandboxes, tape, {
    ...{ workers: 1 + tape.choose('workers', 2), crashes: 2 * tape.choose('crashes', 2), stalls: 0, clockSpreadMs: 0 },
    cacheSize: caches === 'off' ? 0 : 1_000,
    searchLagMs: SECOND * tape.choose('search lag', 3),
    defaults: { backup: { durationMs: 30 * SECOND }, deployment: { durationMs: 90 * SECOND } },
    configuration: {
      approvals: {
        [APPROVAL]: { proof: 'none', need: 1 + tape.choose('need', 2), expiry: 12 * MINUTE, for: { sites: ['none'] } },
      },
    },
  });
  const { clock, server } = world;
  const runs: Run[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    const input = drawInput(tape, count);
    const atMs = START_MS + SECOND * tape.choose('start', BUSY_MS / SECOND / 3);
    clock.at(atMs, () => void runs.push(startRun(server, input, `k${count}`)));
  }
  drawMishaps(world, tape);
  for (let count = 1; count <= ANSWERS && world.findings.length === 0; count += 1) {
    await clock.run(START_MS + (count * 2 * BUSY_MS) / ANSWERS, () => world.findings.length > 0);
    await answer(sandboxes, world, tape, runs);
  }
  await clock.run(START_MS + END_MS, () => world.findings.length > 0);
  return { world, runs, findings: [...new Set(world.findings), ...misruled(world, runs)] };
}

function drawInput(tape: Tape, count: number) {
  const siteIds = SITES[tape.choose('sites', SITES.length)]!;
  return {
    siteIds,
    ...(tape.choose('backup', 4) === 3 ? { serverId: 's1' } : {}),
    ...(tape.choose('supersedes', 2) === 1 ? { supersede: true } : {}),
    ...(tape.choose('asks', 3) === 2 ? { approval: APPROVAL } : {}),
    meta: { run: String(count) },
  };
}

function drawMishaps(world: World, tape: Tape): void {
  const { clock } = world;
  for (let count = 0; count < 3; count += 1) {
    const atMs = START_MS + SECOND * tape.choose('when', BUSY_MS / SECOND);
    const isOfServer = tape.choose('what', 3) === 2;
    clock.at(atMs, () => (isOfServer ? world.downServer(5 * SECOND) : world.restartWorkers(2 * SECOND)));
  }
  clock.at(START_MS + 2 * BUSY_MS, () => world.calm());
}

/** A person looks at one of the questions, and mostly approves. Some answers come twice, or without a reason. */
async function answer(sandboxes: Sandboxes, { server }: World, tape: Tape, runs: readonly Run[]): Promise<void> {
  const asking = runs.filter((run) => run.closedMs === null && searchAttribute(run, 'BelayPhase') === 'approval');
  const [chosen, person, rejects] = [tape.choose('asking', RUNS), tape.choose('person', 3), tape.choose('rejects', 4)];
  const run = asking[chosen % Math.max(1, asking.length)];
  if (run === undefined || !server.isUp) return;
  const question = await queryRun<ApprovalQuestion | null>(sandboxes, run, QUERIES.approval);
  if (question === null) return;
  const why = tape.choose('reason', 4) === 3 ? null : 'looked at it';
  const given = { plan: question.hash, by: PEOPLE[person], why, proof: { kind: 'none' } };
  server.update(run, rejects === 3 ? APPROVAL_UPDATES.reject : APPROVAL_UPDATES.approve, [payloads.toPayload(given)]);
}
