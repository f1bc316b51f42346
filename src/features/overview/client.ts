/** The runs and rollouts in flight, for displays that are refreshed all the time. It asks Temporal for little. */
import type { WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { within } from '../../client/within.ts';
import { withLink } from '../../client/ui-link.ts';
import { createRollout } from '../rollouts/client-handle.ts';
import { knownRollout, type RolloutStatus } from '../rollouts/rollout-status.ts';
import { createRun } from '../../client/runs/run-handle.ts';
import { knownOf } from '../../client/runs/run-status.ts';
import { byUrgency, holdsForMs, isOverdue, needsAttention, type InFlight, type Seen } from './in-flight.ts';
import { listOpen } from './list-open.ts';

export interface Overview {
  /** Those that need attention first, then rollouts, then runs; the newest first. */
  inFlight: InFlight[];
  /** Of all in flight, which are more than are in the list if the limit leaves some out. At most 1,000. */
  total: number;
  /** False: there are at least `total`. */
  complete: boolean;
}

/** @throws BelayError, from every call */
export interface LiveOverview {
  /** Asks about each of them. */
  whole(): Promise<Overview>;
  /**
   * For a display that calls it every second: lists them every five seconds, and asks about ten of them at most, which
   * may have changed meanwhile. What it shows of the others is older.
   */
  refresh(): Promise<Overview>;
}

export interface OverviewOptions {
  /** Default 50. */
  limit?: number;
}

const DEFAULT_LIMIT = 50;
const MOST_ASKED = 10;

interface Followed {
  known: InFlight;
  /** When it may have changed, by this process' clock. */
  dueMs: number;
  /** @param thoroughly not only from Temporal's records, if these do not show whether it goes on */
  ask: (thoroughly: boolean) => Promise<Seen>;
}

export function createOverview(session: Session, { limit = DEFAULT_LIMIT }: OverviewOptions): LiveOverview {
  let followed = new Map<string, Followed>();
  let complete = true;
  let listedMs = -Infinity;

  async function list(): Promise<void> {
    const listed = await within(session, TIMING.client.listMs, 'list what is in flight', () => listOpen(session));
    listedMs = performance.now();
    complete = listed.complete;
    followed = new Map(listed.open.map((info) => [info.runId, again(followed.get(info.runId), info)]));
  }

  /** What was asked shows more than the list. */
  const again = (before: Followed | undefined, info: WorkflowExecutionInfo): Followed =>
    before === undefined || before.known.askedAt === null ? newcomer(session, info) : before;

  /** The list may still show some that have ended. */
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

/** If Temporal does not answer, it stays as it was: the next list reports that. */
async function update(it: Followed, thoroughly: boolean): Promise<void> {
  const seen = await it.ask(thoroughly).catch(() => null);
  if (seen !== null) Object.assign(it.known, seen, { askedAt: new Date().toISOString() });
  it.dueMs = performance.now() + (seen === null ? TIMING.progress.maxAgeMs : holdsForMs(seen, Date.now()));
}

/** As Temporal's list shows it. */
function newcomer(session: Session, info: WorkflowExecutionInfo): Followed {
  const { workflowId, runId } = info;
  const ids = { workflowId, runId, attached: true };
  const listed = { waiting: null, contact: 'answers' } as const;
  const entry = { workflowId, askedAt: null, needsAttention: false };
  if (info.type === ROLLOUT_TYPE) {
    const rollout = createRollout(session, ids);
    const result = withLink(session, knownRollout(info));
    const ask = async (): Promise<Seen> => ({ kind: 'rollout', status: withoutTargets(await rollout.status()) });
    return { known: { ...entry, kind: 'rollout', status: { ...listed, result } }, dueMs: -Infinity, ask };
  }
  const run = createRun(session, ids);
  const result = withLink(session, knownOf(info));
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
