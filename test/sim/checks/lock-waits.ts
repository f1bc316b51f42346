/** S13: a run waits for a lock no longer than its busy timeout. Pure. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { planFor } from '../../model/facts.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Play } from '../plays/play.ts';

/** Looks at a lock that has just become free, and a worker that is away while the wait ends. */
const SLACK_MS = 60_000;
/** The timer of a wait for a freeze. */
const THAW = 'until a freeze ends';

type Checked = Pick<Play, 'world'> & { played: Pick<Play['played'], 'runs'> };

export function impatient({ played, world: { server } }: Checked): string[] {
  return played.runs.flatMap((owner) => {
    const { busyTimeoutMs } = planFor(owner);
    const waits = waitsOf(server.runs.find(({ runId }) => runId === owner.runId)?.history ?? []);
    return waits
      .flatMap((it) => [...it])
      .flatMap(([lockId, { sinceMs, untilMs }]) => {
        const tookMs = untilMs - sinceMs;
        if (tookMs <= busyTimeoutMs + SLACK_MS) return [];
        return [
          `S13: ${owner.workflowId} waits ${tookMs} ms for ${lockId}, and its busy timeout is ${busyTimeoutMs} ms`,
        ];
      });
  });
}

type Waits = Map<string, { sinceMs: number; untilMs: number }>;

/** From the first timer to the end of the last one, by the lock that they name. A wait for a freeze begins new ones. */
function waitsOf(history: readonly HistoryEvent[]): Waits[] {
  let waits: Waits = new Map();
  const all = [waits];
  for (const event of history) {
    if (event.kind !== 'timerStarted' || event.summary === null) continue;
    const summary = payloads.fromPayload<string>(event.summary);
    if (summary === THAW && waits.size > 0) {
      waits = new Map();
      all.push(waits);
    }
    const [, lockId] = /^for (\S+:\S+)$/.exec(summary) ?? [];
    if (lockId === undefined) continue;
    waits.set(lockId, { sinceMs: waits.get(lockId)?.sinceMs ?? event.atMs, untilMs: event.atMs + event.ms });
  }
  return all;
}
