/**
 * Measures the delay between the end of a backup at the service and the verdict, with webhooks and with polls alone.
 * Part of `npm run bench`. Many backups run in parallel and end at different moments of the default interval.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { planRun } from '../src/request/run-plan.ts';
import type { Run } from '../src/starter.ts';
import { began } from '../test/support/journal.ts';
import { SECRET, startReceiver } from '../test/support/receiver.ts';
import { startTestStack, type TestStack } from '../test/support/world.ts';
import { endAll } from '../test/support/at-end.ts';
import { shareOf } from './statistics/share-of.ts';

const RUNS = 30;
const { intervalMs } = planRun({ siteIds: [] }).backup;

/** From the end at the service until the caller has the verdict. */
async function delayMs(world: TestStack, run: Run, serverId: string, durationMs: number): Promise<number> {
  await run.result();
  const [backup] = began(world.sandbox, 'backup', serverId);
  return Date.now() - (Date.parse(backup?.at ?? '') + durationMs);
}

async function measure(world: TestStack, prefix: string): Promise<number[]> {
  const measured = Array.from({ length: RUNS }, async (_, index) => {
    const serverId = `${prefix}-${index}`;
    // Spread evenly over one interval, so that no moment counts more.
    const durationMs = Math.round(intervalMs * (0.3 + index / RUNS));
    world.sandbox.script({ server: serverId }, { durationMs });
    await sleep(index * 100);
    return delayMs(world, await world.belay.start({ serverId, siteIds: [] }), serverId, durationMs);
  });
  return Promise.all(measured);
}

function line(name: string, delays: number[]): string {
  const sorted = [...delays].sort((a, b) => a - b);
  return `${name.padEnd(24)} median ${shareOf(sorted, 0.5)} ms, p99 ${shareOf(sorted, 0.99)} ms, ${sorted.length} backups`;
}

const world = await startTestStack();
const polled = await measure(world, 'polls');
const receiver = await startReceiver(world);
world.sandbox.subscribe({ url: `${receiver.url}/webhooks/panel`, secret: SECRET });
const hinted = await measure(world, 'webhooks');
process.stdout.write(`${line(`polls every ${intervalMs / 1000} s`, polled)}\n${line('with webhooks', hinted)}\n`);
await endAll();
