/**
 * Measures the delay between the end of a backup at the service and the verdict: with a read at each interval, and with
 * webhooks. The durations of a server vary little, and differ among servers by up to an interval, so that
 * no moment of the interval counts more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { began } from '../test/support/journal.ts';
import { SECRET, startReceiver } from '../test/support/receiver.ts';
import { startTestStack, type TestStack } from '../test/support/world.ts';
import { cumulativePlot } from './plot/cumulative-plot.ts';
import { fixed, number, seconds, spreadText, timesText } from './report/amounts.ts';
import { takeTurns } from './load/rounds.ts';
import { progress, runPart } from './report/run-part.ts';
import { timesAsMuch } from './statistics/differences.ts';
import { logNormal } from './statistics/draws.ts';
import { ascending, mean, spreadOf } from './statistics/spread.ts';

const VARIATION = 0.05;
const STARTS_APART_MS = 50;
const WAYS = ['each interval', 'webhooks'] as const;

interface Group {
  way: (typeof WAYS)[number];
  world: TestStack;
}

interface Delay {
  way: string;
  round: number;
  serverId: string;
  durationMs: number;
  /** From the end at the service to the read that saw it. */
  readMs: number;
  /** To the caller's verdict. */
  verdictMs: number;
  /** From the moment when the webhook was sent to the caller's verdict; null without webhooks. */
  webhookMs: number | null;
  polls: number;
}

await runPart('event-delay', async ({ isQuick, deadlineMs }) => {
  const plan = isQuick
    ? { servers: 6, rounds: 1, intervalMs: 2_000, tries: 20, leastMs: 8_000 }
    : { servers: 20, rounds: 3, intervalMs: 5_000, tries: 20, leastMs: 30_000 };
  const [polled, hinted] = [await startTestStack(), await startTestStack()];
  const receiver = await startReceiver(hinted);
  hinted.sandbox.subscribe({ url: `${receiver.url}/webhooks/panel`, secret: SECRET });
  const groups: Group[] = [
    { way: 'each interval', world: polled },
    { way: 'webhooks', world: hinted },
  ];
  const all: Delay[] = [];
  const { rounds } = await takeTurns([groups], plan.rounds, deadlineMs, async (playing, round) => {
    progress(`round ${round + 1} of ${plan.rounds}`);
    all.push(...(await Promise.all(playing.map((group) => playRound(group, round, plan)))).flat());
  });
  return report({ ...plan, rounds }, all);
});

interface Plan {
  servers: number;
  rounds: number;
  intervalMs: number;
  tries: number;
  leastMs: number;
}

/** A backup of each server of the group, all at once. */
function playRound(group: Group, round: number, { servers, intervalMs, tries, leastMs }: Plan): Promise<Delay[]> {
  const { way, world } = group;
  const played = Array.from({ length: servers }, async (_, index): Promise<Delay> => {
    const serverId = `${way.replace(' ', '-')}-${index}`;
    const usualMs = leastMs + (intervalMs * index) / servers;
    const durationMs = Math.round(usualMs * logNormal(VARIATION, Math.random));
    world.sandbox.script({ server: serverId }, { durationMs });
    await sleep(index * STARTS_APART_MS);
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs, tries } });
    const { backup } = await run.result();
    const verdictAtMs = Date.now();
    const endMs = Date.parse(began(world.sandbox, 'backup', serverId).at(-1)!.at) + durationMs;
    const sentMs = webhookSentMs(world, serverId);
    return {
      ...{ way, round, serverId, durationMs },
      readMs: Date.parse(backup!.endedAt!) - endMs,
      verdictMs: verdictAtMs - endMs,
      webhookMs: sentMs === null ? null : verdictAtMs - sentMs,
      polls: backup!.polls,
    };
  });
  return Promise.all(played);
}

/** When the webhook about the last end of a backup of this server was sent. */
function webhookSentMs({ sandbox }: TestStack, serverId: string): number | null {
  const delivery = sandbox.deliveries.findLast(
    ({ type, body }) => type === 'backup.completed' && body.data.server_id === serverId,
  );
  const attempt = delivery?.attempts[0];
  return attempt === undefined ? null : Date.parse(attempt.at);
}

function report(plan: Plan, all: readonly Delay[]) {
  const of = (way: string, value: (it: Delay) => number | null) =>
    ascending(all.flatMap((it) => (it.way === way ? [value(it) ?? []].flat() : [])));
  const meanPerRound = WAYS.flatMap((way) =>
    Array.from({ length: plan.rounds }, (_, round) => ({
      ...{ way, round },
      meanMs: mean(all.filter((it) => it.way === way && it.round === round).map(({ verdictMs }) => verdictMs)),
    })),
  );
  const times = (way: string) =>
    way === WAYS[0] ? null : timesAsMuch(meanPerRound, { way, as: WAYS[0] }, ({ meanMs }) => meanMs, Math.random);
  const webhook = of('webhooks', ({ webhookMs }) => webhookMs);
  return {
    plan: { ...plan, variation: VARIATION },
    figures: {
      ...Object.fromEntries(
        WAYS.map((way) => [
          way,
          {
            read: spreadOf(of(way, (it) => it.readMs)),
            verdict: spreadOf(of(way, (it) => it.verdictMs)),
            times: times(way),
          },
        ]),
      ),
      webhookToVerdict: spreadOf(webhook),
    },
    rounds: all,
    tables: [
      {
        title: `From the end of a backup of ${seconds(plan.leastMs)} or more, ± ${100 * VARIATION} %, interval ${seconds(plan.intervalMs)}`,
        head: [
          'reads',
          'backups',
          'to the read: median / p99 / most',
          'to the verdict',
          'mean',
          `× ${WAYS[0]}`,
          'reads each',
        ],
        rows: WAYS.map((way) => {
          const verdicts = of(way, ({ verdictMs }) => verdictMs);
          return [
            way,
            number(verdicts.length),
            spreadText(spreadOf(of(way, ({ readMs }) => readMs))),
            spreadText(spreadOf(verdicts)),
            seconds(mean(verdicts)),
            timesText(times(way)),
            fixed(mean(of(way, ({ polls }) => polls)), 1),
          ];
        }),
      },
    ],
    plots: {
      verdict: cumulativePlot(
        'Part of the backups whose verdict comes this soon after the end, or sooner',
        WAYS.map((way) => ({ name: way, values: of(way, ({ verdictMs }) => verdictMs) })),
      ),
    },
    notes: [`From the webhook to the verdict: median / p99 / most ${spreadText(spreadOf(webhook))}.`],
  };
}
