/** Begins deployments and waits until the service has got a request of each, or gets no more. */
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { definedFields } from '../../src/contract/plain-object.ts';
import type { Waits } from '../../src/contract/run.ts';
import type { Run } from '../../src/starter.ts';
import type { Arrived, Service } from '../service/start-service.ts';
import type { BelayStack } from './belay-stack.ts';

/** So that no wait ends by itself. */
const TRIES = 1_000;
const STARTS_AT_ONCE = 50;
const LOOK_MS = 250;
/** A run that has not begun this long after the last one has ended before its request. */
const QUIET_MS = 90_000;
const START_WITHIN_MS = 30 * 60_000;

export interface HoldOptions {
  /** Undefined: as the build does it. */
  waits: Waits | undefined;
  intervalMs: number;
  /** How many runs may be started and not yet begun. Infinity starts all at once. */
  backlog: number;
  /** Those that have not begun by then are not waited for. */
  deadlineMs: number;
}

export interface Held extends Arrived {
  runs: Run[];
  failedStarts: number;
  /** Of these sites, those with a request. */
  begun: string[];
  beganMs: number;
  /** When the last start was answered. */
  startedMs: number;
  /** When the last request arrived. */
  lastPostMs: number;
}

/** @param sites names that the service does not know yet */
export async function hold(
  { belay }: BelayStack,
  service: Service,
  sites: readonly string[],
  { waits, intervalMs, backlog, deadlineMs }: HoldOptions,
): Promise<Held> {
  const { begun: begunBefore } = await service.counts();
  await service.take();
  const beganMs = Date.now();
  const runs: Run[] = [];
  let [asked, failedStarts] = [0, 0];
  const open = async () => asked - failedStarts - ((await service.counts()).begun - begunBefore);
  const isOver = () => Date.now() > deadlineMs;
  const start = async (siteId: string) => {
    while (backlog < Infinity && (await open()) >= backlog && !isOver()) await sleep(LOOK_MS);
    if (isOver()) return;
    asked += 1;
    const deploy = { intervalMs, tries: TRIES };
    // Builds from before pooled waits reject the field.
    const way = definedFields({ waits });
    await belay.start({ siteIds: [siteId], ...way, deploy, startWithinMs: START_WITHIN_MS }).then(
      (run) => runs.push(run),
      () => (failedStarts += 1),
    );
  };
  await pMap(sites, start, { concurrency: STARTS_AT_ONCE });
  const startedMs = Date.now();
  await untilQuiet();
  const { posts, reads } = await service.take();
  const begun = [...new Set(posts.map(({ site }) => site))];
  const lastPostMs = posts.reduce((latest, { atMs }) => Math.max(latest, atMs), beganMs);
  return { runs, failedStarts, begun, posts, reads, beganMs, startedMs, lastPostMs };

  async function untilQuiet(): Promise<void> {
    let [least, leastMs] = [Infinity, Date.now()];
    while (!isOver() && Date.now() - leastMs < QUIET_MS) {
      const left = await open();
      if (left === 0) return;
      if (left < least) [least, leastMs] = [left, Date.now()];
      await sleep(LOOK_MS);
    }
  }
}
