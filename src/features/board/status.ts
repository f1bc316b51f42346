/** What the board shows, as data: the document of `/status.json`. Pure. */
import { contactText, liveLine } from '../../cli/follow.ts';
import { rolloutNow } from '../overview/show-in-flight.ts';
import type { FreezeEntry } from '../freezes/actions.ts';
import type { Reading } from '../../cli/target-reader.ts';
import type { InFlight } from '../overview/client.ts';
import type { Firing, ScheduleState } from '../schedules/client-state.ts';
import { TIMING } from '../../contract/timing.ts';
import { SCHEMA_VERSION, type Outcome, type Phase } from '../../contract/names.ts';
import { plainText } from '../../contract/safe-text.ts';
import { counted } from '../../contract/results.ts';
import { targetText } from '../../contract/target.ts';
import { subjectKey, partOf, subjectsOf, type Past, type BoardSubject, type PastVerdict } from './past.ts';
import type { Problem } from './poller.ts';

/** What was read so far. */
export interface BoardSeen {
  /** In the order of belay.yaml. */
  targets: readonly (BoardSubject & { server: string; fleet: string })[];
  inFlight: readonly InFlight[];
  past: Pick<Past, 'subjects' | 'of'>;
  /** What the service reports, by `subjectKey`. Null if the board does not read the service. */
  readings: ReadonlyMap<string, Reading> | null;
  freezes: readonly FreezeEntry[];
  schedules: readonly ScheduleState[];
  /** Null until they are known. */
  workers: readonly BoardWorker[] | null;
  problems: readonly Problem[];
  readAt: string | null;
}

export interface BoardWorker {
  /** The version of Belay. Null if the worker does not report it. */
  version: string | null;
  /** `host:pid` */
  where: string;
  /** ISO 8601. Null if the worker does not report it. */
  since: string | null;
  /** Null for a worker without a version. */
  build: string | null;
  takesNewRuns: boolean;
}

export interface BoardTarget extends BoardSubject {
  server: string | null;
  fleet: string | null;
  /** A sentence about what the run in flight does or waits for. Null if no run is in flight. */
  now: string | null;
  run: { workflowId: string; phase: Phase | null; startedAt: string | null; ui: string | null } | null;
  /** Of the newest run that requested something, or else of the newest one. */
  last: PastVerdict | null;
  /** What the service itself reports; null if it was not read. */
  service: string | null;
  serviceReadAt: string | null;
  serviceProblem: string | null;
  /** Whether the service knows no deployment of the target. `serviceProblem` then says so, and needs no attention. */
  neverDeployed: boolean;
  needsAttention: boolean;
}

type AttentionKind =
  | 'failed'
  | 'unknown'
  | 'timed_out'
  | 'paused'
  | 'approval'
  | 'failing_reads'
  | 'no_worker'
  | 'schedule_paused'
  | 'schedule_late'
  | 'service';

export interface Attention {
  kind: AttentionKind;
  what: string;
  why: string;
  since: string | null;
  workflowId: string | null;
  ui: string | null;
}

export interface BoardStatus {
  schemaVersion: number;
  /** When Temporal last listed what is in flight. Null before it did. */
  readAt: string | null;
  /** Leaves out the targets that have not run since this time. Null if none is left out. */
  since: string | null;
  targets: BoardTarget[];
  rollouts: ReturnType<typeof rolloutOf>[];
  attention: Attention[];
  freezes: FreezeEntry[];
  /** The next firings of the schedules, the first one first. */
  next: { at: string; scheduleId: string }[];
  schedules: Pick<ScheduleState, 'scheduleId' | 'when' | 'timeZone' | 'paused' | 'note' | 'skipped' | 'missed'>[];
  workers: readonly BoardWorker[] | null;
  /** Failed reads, because of which a part of this may be old. */
  problems: readonly Problem[];
}

const MOST_NEXT = 10;

export function boardStatusOf(seen: BoardSeen, nowMs: number, since: string | null = null): BoardStatus {
  const all = targetsOf(seen);
  const lastRanAt = (it: BoardTarget) => seen.past.of(it)[0]?.endedAt ?? '';
  const targets = since === null ? all : all.filter((it) => it.run !== null || lastRanAt(it) >= since);
  return {
    schemaVersion: SCHEMA_VERSION,
    readAt: seen.readAt,
    since,
    targets: [...targets].sort((a, b) => rankOf(a) - rankOf(b)),
    rollouts: seen.inFlight.flatMap((it) => (it.kind === 'rollout' ? [rolloutOf(it)] : [])),
    attention: attentionOf(seen, all, nowMs),
    freezes: seen.freezes.filter(({ until, isActive }) => isActive || (until !== null && Date.parse(until) > nowMs)),
    next: seen.schedules
      .flatMap(({ scheduleId, next }) => next.map((at) => ({ at, scheduleId })))
      .sort((a, b) => a.at.localeCompare(b.at))
      .slice(0, MOST_NEXT),
    schedules: seen.schedules.map(({ scheduleId, when, timeZone, paused, note, skipped, missed }) => ({
      scheduleId,
      when,
      timeZone,
      paused,
      note,
      skipped,
      missed,
    })),
    workers: seen.workers,
    problems: seen.problems,
  };
}

/**
 * Targets that need attention come first, then those with a run in flight. Within a rank, the order of belay.yaml
 * stays.
 */
const rankOf = ({ needsAttention, run }: BoardTarget): number => (needsAttention ? 0 : run === null ? 2 : 1);

const BAD: readonly (Outcome | null)[] = ['failed', 'unknown', 'timed_out'];

function targetsOf({ targets, inFlight, past, readings }: BoardSeen): BoardTarget[] {
  const runs = runsBySubject(inFlight);
  const places = new Map(targets.map((it) => [subjectKey(it), it]));
  const others = [...past.subjects(), ...[...runs.values()].map(({ subject }) => subject)];
  const subjects = new Map([...targets, ...others].map(({ kind, id }) => [subjectKey({ kind, id }), { kind, id }]));
  return [...subjects].map(([key, subject]) => {
    const place = places.get(key);
    const run = runs.get(key)?.run ?? null;
    const last = lastVerdict(past.of(subject));
    const reading = readings?.get(key);
    const own = subject.kind === 'server' ? subject.id : null;
    return {
      ...subject,
      server: place?.server ?? run?.status.result.backup?.serverId ?? last?.serverId ?? own,
      fleet: place?.fleet ?? null,
      now: run === null ? null : plainText(nowOf(run), 400),
      run: run === null ? null : inFlightOf(run),
      last,
      service: reading?.status == null ? null : plainText(reading.status),
      serviceReadAt: reading?.readAt ?? null,
      serviceProblem: reading?.problem == null ? null : plainText(reading.problem),
      neverDeployed: reading?.isMissing ?? false,
      needsAttention: run === null ? BAD.includes(last?.outcome ?? null) : run.needsAttention,
    };
  });
}

/** A run that requested nothing says nothing about the target, so it hides no earlier verdict. */
const lastVerdict = (verdicts: readonly PastVerdict[]): PastVerdict | null =>
  verdicts.find(({ outcome }) => outcome !== 'not_started') ?? verdicts[0] ?? null;

type RunInFlight = InFlight & { kind: 'run' };

/** Only the parts of runs that have not ended. */
function runsBySubject(inFlight: readonly InFlight[]): Map<string, { subject: BoardSubject; run: RunInFlight }> {
  const found = new Map<string, { subject: BoardSubject; run: RunInFlight }>();
  for (const run of inFlight) {
    if (run.kind !== 'run') continue;
    for (const subject of subjectsOf(run.status.result)) {
      const key = subjectKey(subject);
      const hasEnded = partOf(run.status.result, subject)?.outcome != null;
      // A run that waits for the lock of another run comes second.
      const other = found.get(key)?.run.status.result.phase;
      if (!hasEnded && (other === undefined || other === 'queued')) found.set(key, { subject, run });
    }
  }
  return found;
}

const nowOf = (run: RunInFlight): string =>
  // Only the phase is known until the run was queried.
  run.askedAt === null ? (run.status.result.phase ?? 'in progress') : liveLine(run.status, false);

function inFlightOf({ workflowId, status: { result } }: RunInFlight): BoardTarget['run'] {
  const { phase, startedAt, links } = result;
  return { workflowId, phase, startedAt, ui: links.ui };
}

function rolloutOf(rollout: InFlight & { kind: 'rollout' }) {
  const { name, fleet, phase, servers, startedAt, links } = rollout.status.result;
  const now = rollout.askedAt === null ? (phase ?? 'in progress') : plainText(rolloutNow(rollout.status), 400);
  const { workflowId, needsAttention } = rollout;
  return { workflowId, name, fleet, phase, now, servers, startedAt, needsAttention, ui: links.ui };
}

/** `site a1` */
export const subjectText = ({ kind, id }: BoardSubject): string =>
  kind === 'server' ? `server ${plainText(id)}` : targetText({ kind, id }, plainText);

function attentionOf(seen: BoardSeen, targets: readonly BoardTarget[], nowMs: number): Attention[] {
  const noWorker = seen.workers !== null && !seen.workers.some(({ takesNewRuns }) => takesNewRuns);
  const why = seen.workers?.length === 0 ? 'no worker polls the task queue' : 'no worker takes new runs';
  return [
    ...(noWorker ? [attention('no_worker', 'workers', why)] : []),
    ...seen.inFlight.filter(({ needsAttention }) => needsAttention).map(ofInFlight),
    ...targets.filter(({ run, needsAttention }) => run === null && needsAttention).map(ofLast),
    ...seen.schedules.flatMap((it) => ofSchedule(it, nowMs)),
    ...ofService(targets),
  ];
}

const attention = (
  kind: AttentionKind,
  what: string,
  why: string,
  more: Partial<Pick<Attention, 'since' | 'workflowId' | 'ui'>> = {},
): Attention => ({ kind, what, why: plainText(why, 400), since: null, workflowId: null, ui: null, ...more });

function ofInFlight(it: InFlight): Attention {
  const { startedAt, links } = it.status.result;
  const { waiting } = it.status;
  const since = sinceOf(waiting) ?? startedAt;
  const more = { since, workflowId: it.workflowId, ui: links.ui };
  const isSilent = contactText(it.status, it.kind) !== null;
  const kindOr = (other: AttentionKind): AttentionKind => {
    if (isSilent) return 'no_worker';
    return waiting?.kind === 'approval' ? 'approval' : other;
  };
  if (it.kind === 'rollout') {
    const { name } = it.status.result;
    return attention(kindOr('paused'), `rollout ${plainText(name ?? it.workflowId)}`, rolloutNow(it.status), more);
  }
  const what = subjectsOf(it.status.result).map(subjectText).join(', ') || plainText(it.workflowId);
  return attention(kindOr('failing_reads'), plainText(what), liveLine(it.status, false), more);
}

/** @returns undefined if it has begun at no known time */
function sinceOf(waiting: InFlight['status']['waiting']): string | undefined {
  if (waiting === null) return undefined;
  if ('since' in waiting) return waiting.since;
  return 'parked' in waiting ? waiting.parked?.since : undefined;
}

function ofLast({ last, ...target }: BoardTarget): Attention {
  const outcome = last?.outcome ?? 'unknown';
  const more = { since: last?.endedAt ?? null, workflowId: last?.workflowId ?? null, ui: last?.ui ?? null };
  return attention(outcome as AttentionKind, subjectText(target), last?.error ?? outcome, more);
}

function ofSchedule({ scheduleId, answered, paused, note, next, last: [newest] }: ScheduleState, nowMs: number) {
  const isLate = (at: string | undefined) => at !== undefined && Date.parse(at) + TIMING.board.lateMs < nowMs;
  if (paused) {
    const reason = note === null ? 'paused' : `paused: ${plainText(note)}`;
    return [attention('schedule_paused', scheduleId, reason)];
  }
  if (!answered) return [attention('schedule_late', scheduleId, 'Temporal lists it, but does not answer for it')];
  if (isLate(next[0])) return [attention('schedule_late', scheduleId, 'it has not fired', { since: next[0] ?? null })];
  const waits = newest !== undefined && isWaiting(newest) ? newest.firedAt : undefined;
  if (!isLate(waits)) return [];
  return [attention('schedule_late', scheduleId, 'it fired, and nothing was started', { since: waits ?? null })];
}

const isWaiting = ({ workflowId, outcome, forgotten, unreadable }: Firing): boolean =>
  workflowId === null && outcome === null && !forgotten && unreadable === undefined;

/** Failures of the service usually come together, so one line stands for all of them. */
function ofService(targets: readonly BoardTarget[]): Attention[] {
  const failing = targets.filter(({ serviceProblem, neverDeployed }) => serviceProblem !== null && !neverDeployed);
  const [first] = failing;
  if (first === undefined) return [];
  const what = failing.length === 1 ? subjectText(first) : counted(failing.length, 'target');
  return [attention('service', what, `the service could not be read: ${first.serviceProblem}`)];
}
