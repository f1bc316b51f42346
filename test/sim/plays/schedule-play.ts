/**
 * Plays the firings of one schedule from a tape: several of one slot, runs that overlap, and workers that are away for
 * longer than a firing may be late. Temporal's own scheduler is not modelled: the play starts what it would start.
 */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { TIMING } from '../../../src/contract/timing.ts';
import type { ScheduledInput, ScheduledResult } from '../../../src/features/schedules/shapes.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { eventsOf } from '../stack/inspect.ts';
import type { Caches } from './play.ts';
import { resultOf } from './record.ts';
import type { Tape } from '../tape.ts';
import type { Run } from '../temporal/types.ts';
import { createWorld, SERVICE_URL, START_MS, type World } from '../world.ts';

export interface SchedulePlay {
  world: World;
  firings: Run[];
  findings: string[];
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SITE = 'a1';
const CATCH_UP_MS = 10 * MINUTE;
const TIMES = ['09:00', '09:02', '09:04'];
const FIRST_MS = Date.parse('2026-03-02T09:00:00Z');
const [DAYS, FIRINGS] = [2, 10];

const INPUT: ScheduledInput = {
  ...{ fleet: 'shop', schedule: 'morning', when: 'daily', timeZone: 'UTC', catchUpMs: CATCH_UP_MS },
  slot: { granularity: 'time', times: TIMES },
  start: { type: 'deployOnly', input: { service: SERVICE_URL, siteIds: [SITE], deploy: { intervalMs: 15_000 } } },
};

export async function playSchedule(sandboxes: Sandboxes, tape: Tape, caches: Caches): Promise<SchedulePlay> {
  const world = createWorld(sandboxes, tape, {
    ...{ workers: 1 + tape.choose('workers', 2), crashes: 2 * tape.choose('crashes', 2), stalls: 0, clockSpreadMs: 0 },
    cacheSize: caches === 'off' ? 0 : 1_000,
    // Longer than the time to the next slot.
    defaults: { deployment: { durationMs: 3 * MINUTE } },
  });
  const { clock } = world;
  const firings: Run[] = [];
  for (let count = 0; count < FIRINGS; count += 1) {
    const slot = 2 * MINUTE * tape.choose('slot', TIMES.length) + DAY * tape.choose('day', DAYS);
    clock.at(FIRST_MS + slot, () => void firings.push(fire(world, count)));
  }
  for (let day = 0; day < DAYS; day += 1) {
    const atMs = FIRST_MS + DAY * day + 1_000 * (tape.choose('when', 400) - 30);
    clock.at(atMs, () => world.restartWorkers(MINUTE * tape.choose('down', 20)));
    if (tape.choose('server', 2) === 1) clock.at(atMs + 2 * MINUTE, () => world.downServer(30_000));
  }
  clock.at(FIRST_MS + DAYS * DAY, () => world.calm());
  await clock.run(START_MS + (DAYS + 1) * DAY, () => world.findings.length > 0);
  return { world, firings, findings: [...new Set(world.findings), ...broken(world, firings)] };
}

/** As Temporal's scheduler does, which gives each firing an id of its own. */
function fire({ server }: World, count: number): Run {
  const firing = server.startOnce({
    ...{ workflowId: `firing-${count}`, type: 'runScheduled', input: [payloads.toPayload(INPUT)], memo: {} },
    taskTimeoutMs: TIMING.worker.workflowTaskMs,
  });
  if (firing === null) throw new Error('each firing has an id');
  return firing;
}

/** What no schedule may do. */
export function broken({ server, service }: World, firings: readonly Run[]): string[] {
  const perSlot = new Map<number, Run[]>();
  for (const firing of firings) perSlot.set(firing.startedMs, [...(perSlot.get(firing.startedMs) ?? []), firing]);
  const began = service.state.journal.filter((entry) => entry.began !== null).length;
  const runs = server.runs.filter(({ type }) => type === 'deployOnly');
  return [
    ...firings.flatMap((firing) => firingProblems(firing, server.runs)),
    ...[...perSlot].flatMap(([startedMs, those]) => {
      const own = those.filter((it) => eventsOf(it, 'childStarted').length > 0);
      const inTime = those.filter((it) => !isLate(it));
      const slot = new Date(startedMs).toISOString();
      return [
        ...(own.length > 1 ? [`${slot} started ${own.length} runs`] : []),
        ...(own.length === 0 && inTime.length > 0 ? [`${slot} started no run`] : []),
      ];
    }),
    ...(began > runs.length ? [`${began} deployments for ${runs.length} runs`] : []),
  ];
}

/** Whether no worker began it in time. */
function isLate(firing: Run): boolean {
  const [completed] = eventsOf(firing, 'taskCompleted');
  const begun = completed === undefined ? undefined : firing.history[completed.startedId - 1];
  return begun === undefined || begun.atMs - firing.startedMs > CATCH_UP_MS;
}

function firingProblems(firing: Run, runs: readonly Run[]): string[] {
  const { workflowId, outcome, closedMs } = firing;
  if (closedMs === null || outcome === null || outcome === 'terminated') return [`${workflowId} did not end`];
  const startedNone = [...eventsOf(firing, 'childStarted'), ...eventsOf(firing, 'childRefused')].length === 0;
  // A run that no worker begins in time ends as NoWorker, too, and its firing ends as it does.
  const isSkipped = startedNone && 'failure' in outcome && outcome.failure.applicationFailureInfo?.type === 'NoWorker';
  if (isSkipped !== isLate(firing)) return [`${workflowId} was ${isSkipped ? '' : 'not '}skipped`];
  if (isSkipped) return [];
  const result = resultOf<ScheduledResult>(outcome);
  const run = runs.find((it) => it.workflowId === result?.workflowId);
  if (result === null || run === undefined) return [`${workflowId} names no run`];
  const isOwn = run.parent?.runId === firing.runId;
  if (isOwn === result.alreadyStarted) return [`${workflowId} reports alreadyStarted: ${result.alreadyStarted}`];
  if (!isOwn) return [];
  const ended = resultOf(run.outcome)?.outcome ?? null;
  return result.outcome === ended && closedMs >= run.closedMs! ? [] : [`${workflowId} ended before or unlike its run`];
}
