/** The runs and rollouts in flight, for displays that refresh all the time. It asks Temporal for little. */
import pMap from 'p-map';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { checkLimit, refuseUnknown } from '../../client/check-options.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { within } from '../../client/within.ts';
import { withLink } from '../../client/ui-link.ts';
import { createRollout, listedRollout, type RolloutStatus } from '../rollouts/client-handle.ts';
import { createRun } from '../../client/runs/run-handle.ts';
import { listedResult } from '../../client/runs/list-runs.ts';
import type { RunStatus } from '../../client/runs/run-status.ts';
import { MOST_AT_ONCE, firstListed, type Listed, RUNNING, runsAndRolloutsOn } from '../../client/list-filter.ts';

export interface Overview {
  /** Entries that need attention come first, then rollouts, then runs. Within each group, the newest comes first. */
  inFlight: InFlight[];
  /** How many runs and rollouts are in flight, at most 1,000. The limit may leave some of them out of `inFlight`. */
  total: number;
  /** False if there are more than `total`. */
  complete: boolean;
}

/** Every method throws a BelayError if it fails. */
export interface LiveOverview {
  /** Lists everything in flight, and asks about each entry. */
  whole(): Promise<Overview>;
  /**
   * For a display that calls it every second. It lists every five seconds, and asks about at most ten entries that may
   * have changed since. What it shows of the others is older.
   */
  refresh(): Promise<Overview>;
}

export interface OverviewOptions {
  /** The most entries to return. Default: 50. */
  limit?: number;
}

const OVERVIEW_OPTIONS: Record<keyof OverviewOptions, true> = { limit: true };

const DEFAULT_LIMIT = 50;
const MOST_ASKED = 10;

interface Followed {
  known: InFlight;
  /** When the entry may have changed, by the clock of this process. */
  dueMs: number;
  /** @param thoroughly also ask the workflow if Temporal's records do not show whether it makes progress */
  ask: (thoroughly: boolean) => Promise<Seen>;
}

export function createOverview(session: Session, options: OverviewOptions): LiveOverview {
  refuseUnknown('overview', options, OVERVIEW_OPTIONS);
  const { limit = DEFAULT_LIMIT } = options;
  checkLimit(limit);
  let followed = new Map<string, Followed>();
  let complete = true;
  let listedMs = -Infinity;

  async function list(): Promise<void> {
    const listed = await within(session, TIMING.client.listMs, 'list what is in flight', () => listOpen(session));
    listedMs = performance.now();
    complete = listed.length < MOST_AT_ONCE;
    followed = new Map(listed.map((info) => [info.runId, keptOrNew(followed.get(info.runId), info)]));
  }

  /** Keeps what a question returned, because the list shows less. */
  const keptOrNew = (before: Followed | undefined, info: Listed): Followed =>
    before === undefined || before.known.askedAt === null ? newcomer(session, info) : before;

  /** The list may still show workflows that have ended. */
  const open = (): Followed[] => {
    const nowMs = Date.now();
    const left = [...followed.values()].filter(({ known }) => known.status.contact !== 'closed');
    for (const { known } of left) known.needsAttention = needsAttention(known, nowMs);
    return left.sort((a, b) => byUrgency(a.known, b.known));
  };

  const overview = (): Overview => {
    const all = open();
    return { inFlight: all.slice(0, limit).map(({ known }) => ({ ...known })), total: all.length, complete };
  };

  return {
    async whole() {
      await list();
      await pMap(open().slice(0, limit), (it) => update(it, true), IN_PARALLEL);
      return overview();
    },
    async refresh() {
      if (performance.now() - listedMs >= TIMING.overview.listMs) await list();
      const due = open()
        .slice(0, limit)
        .filter(({ dueMs }) => dueMs <= performance.now())
        .sort((a, b) => a.dueMs - b.dueMs);
      await pMap(due.slice(0, MOST_ASKED), (it) => update(it, false), IN_PARALLEL);
      return overview();
    },
  };
}

/** If Temporal does not answer, the entry stays unchanged. The next list reports that. */
async function update(it: Followed, thoroughly: boolean): Promise<void> {
  const seen = await it.ask(thoroughly).catch(() => null);
  if (seen !== null) Object.assign(it.known, seen, { askedAt: new Date().toISOString() });
  it.dueMs = performance.now() + (seen === null ? TIMING.progress.maxAgeMs : holdsForMs(seen, Date.now()));
}

function newcomer(session: Session, info: Listed): Followed {
  const { workflowId, runId } = info;
  const ids = { workflowId, runId, attached: true };
  const listed = { waiting: null, contact: 'answers' } as const;
  const entry = { workflowId, askedAt: null, needsAttention: false };
  if (info.type === ROLLOUT_TYPE) {
    const rollout = createRollout(session, ids);
    const result = withLink(session, listedRollout(info));
    const ask = async (): Promise<Seen> => ({ kind: 'rollout', status: withoutTargets(await rollout.status()) });
    return { known: { ...entry, kind: 'rollout', status: { ...listed, result } }, dueMs: -Infinity, ask };
  }
  const run = createRun(session, ids);
  const result = withLink(session, listedResult(info));
  const ask = async (thoroughly: boolean): Promise<Seen> => {
    const status = await run.progress();
    return { kind: 'run', status: thoroughly && isOverdue(status, Date.now()) ? await run.status() : status };
  };
  return { known: { ...entry, kind: 'run', status: { ...listed, result } }, dueMs: -Infinity, ask };
}

const withoutTargets = ({ result, ...status }: RolloutStatus): RolloutStatus => ({
  ...status,
  result: { ...result, targets: [] },
});

function listOpen({ client, taskQueue }: Session): Promise<Listed[]> {
  return firstListed(client, `${runsAndRolloutsOn(taskQueue)} AND ${RUNNING}`, MOST_AT_ONCE);
}

/* What an overview knows of a run or rollout in flight, and how long that stays true. Pure. */

/** The status of a rollout comes without its targets. */
export type Seen = { kind: 'run'; status: RunStatus } | { kind: 'rollout'; status: RolloutStatus };

export type InFlight = Seen & {
  workflowId: string;
  /**
   * When the entry was last asked about, ISO 8601. Null while only Temporal's list shows it, with nothing but its
   * phase.
   */
  askedAt: string | null;
  /** True if it waits for people or for a service that is down, or if no worker continues it. */
  needsAttention: boolean;
};

const startedMs = ({ status }: Seen): number => Date.parse(status.result.startedAt ?? '') || 0;

/** A service that restarts fails a read or two, which is no outage. */
const READS_OF_AN_OUTAGE = 3;

export function needsAttention(seen: Seen, nowMs: number): boolean {
  const { contact } = seen.status;
  if (contact === 'not_begun') return nowMs - startedMs(seen) >= TIMING.cli.beginsWithinMs;
  if (contact !== 'answers') return contact !== 'closed';
  const { waiting, result } = seen.status;
  if (waiting?.kind === 'approval' || waiting?.kind === 'decision' || result.phase === 'parked') return true;
  return waiting !== null && 'failing' in waiting && (waiting.failing?.reads ?? 0) >= READS_OF_AN_OUTAGE;
}

/** Sorts entries that need attention first, then rollouts, then runs, each with the newest first. */
export function byUrgency(a: InFlight, b: InFlight): number {
  const rank = (it: InFlight) => (it.needsAttention ? 0 : it.kind === 'rollout' ? 1 : 2);
  return rank(a) - rank(b) || startedMs(b) - startedMs(a) || a.workflowId.localeCompare(b.workflowId);
}

/** Returns how long not to ask again. What only a query answers is asked rarely, because a query is a billed Action. */
export function holdsForMs(seen: Seen, nowMs: number): number {
  const { leastPauseMs } = TIMING.overview;
  const { readMs, maxAgeMs } = TIMING.progress;
  const { contact } = seen.status;
  if (contact === 'not_begun') return leastPauseMs;
  if (seen.kind === 'rollout' || contact !== 'answers') return maxAgeMs;
  const { waiting } = seen.status;
  if (waiting === null) return leastPauseMs;
  if (!('nextReadAt' in waiting)) return maxAgeMs;
  const untilReadMs = Date.parse(waiting.nextReadAt) - nowMs + readMs;
  return Math.min(Math.max(untilReadMs, leastPauseMs), maxAgeMs);
}

/** True if a read is long overdue: only the run itself shows whether a worker is still there. */
export function isOverdue({ waiting }: RunStatus, nowMs: number): boolean {
  if (waiting === null || !('nextReadAt' in waiting)) return false;
  return nowMs - Date.parse(waiting.nextReadAt) > TIMING.progress.silentMs;
}
