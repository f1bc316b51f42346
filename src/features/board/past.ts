/** Groups past runs by subject. It reads Temporal's list, the results of runs, and kept receipts. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { closedAtOrAfter, firstListed, ofTypes, onQueue, type Listed } from '../../client/list-filter.ts';
import { linksOf } from '../../client/ui-link.ts';
import { within } from '../../client/within.ts';
import { listedResult, recordedOutcome } from '../../client/runs/list-runs.ts';
import { closedResult } from '../../client/runs/run-result.ts';
import { isDenied, isLimited, isUnreachable } from '../../client/transport/grpc-errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { RUN_TYPES, type Evidence, type Outcome } from '../../contract/names.ts';
import type { Receipt } from '../receipts/shapes.ts';
import { emptyResult } from '../../contract/results.ts';
import type { BackupResult, DeploymentResult, RunMemo, RunResult } from '../../contract/run.ts';
import { PayloadError } from '../../encryption/payload-codec.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { parsedJson } from '../../contract/plain-object.ts';
import { answersBy } from '../approvals/actions-receipts.ts';
import { verifyReceipt } from '../receipts/actions-verify.ts';

/** What a row is about. A server has one only for runs that deploy nothing. */
export interface BoardSubject {
  kind: 'site' | 'app' | 'server';
  id: string;
}

export const subjectKey = ({ kind, id }: BoardSubject): string => `${kind}:${id}`;

/** How one run ended for one subject. */
export interface PastVerdict {
  workflowId: string;
  runId: string;
  /** Null while only Temporal's list is known, which does not tell how this part of the run ended. */
  outcome: Outcome | null;
  evidence: Evidence | null;
  startedAt: string | null;
  endedAt: string;
  /** From the start of this part to its end. Null if it was not started, or if its times are not known yet. */
  durationMs: number | null;
  serverId: string | null;
  commit: string | null;
  /** Who started the run, or the id of the workflow that did. Null if it is not recorded. */
  by: string | null;
  /** Null if the run is completed. */
  error: string | null;
  ui: string | null;
}

/** A run that ended. `isRead` tells whether its own result is known, or only its entry in the list. */
interface PastRun {
  result: RunResult;
  by: string | null;
  isRead: boolean;
}

/** A page shows at most this many. */
export const MOST_SHOWN = 30;
const LOOK_BACK_MS = 30 * DAY_MS;
const MOST_LISTED = 5_000;
const READ_AT_ONCE = 10;
const FILES_AT_ONCE = 100;
/** Temporal's list of workflows lags, so each search starts this much earlier. */
const OVERLAP_MS = 60_000;

export interface Past {
  subjects(): BoardSubject[];
  /** Runs that this program cannot decode completely. */
  unreadable(): RunResult[];
  /** The newest first, at most 30. */
  of(subject: BoardSubject): PastVerdict[];
  /** Adds the runs that ended since the last time. One search. */
  list(): Promise<void>;
  /** Reads a few results that are not known yet, the newest of each subject first. */
  readResults(): Promise<void>;
  /** Adds the receipts that appeared in the folder since the last call. */
  readReceipts(folder: string): Promise<void>;
}

export function createPast(session: Session): Past {
  const runs = new Map<string, PastRun>();
  /** By subject, the newest first. */
  const bySubject = new Map<string, { subject: BoardSubject; runs: PastRun[] }>();
  const filesRead = new Set<string>();
  let latestEndMs = -Infinity;

  function add(runId: string, run: PastRun): void {
    const before = runs.get(runId);
    if (before !== undefined) {
      before.by = run.by = run.by ?? before.by;
      if (before.isRead || !run.isRead) return;
    }
    runs.set(runId, run);
    for (const subject of subjectsOf(run.result)) {
      const entry = bySubject.get(subjectKey(subject)) ?? { subject, runs: [] };
      const others = entry.runs.filter((it) => it.result.runId !== runId);
      entry.runs = [...others, run].sort((a, b) => endOf(b).localeCompare(endOf(a))).slice(0, MOST_SHOWN);
      bySubject.set(subjectKey(subject), entry);
    }
  }

  /** Forgets runs that no subject shows. A run whose subjects are not known stays until its result was read. */
  function sweep(): void {
    const shown = new Set([...bySubject.values()].flatMap((it) => it.runs.map(({ result }) => result.runId)));
    for (const [runId, { isRead, result }] of runs)
      if (!shown.has(runId) && (isRead || subjectsOf(result).length > 0)) runs.delete(runId);
  }

  function unread(): PastRun[] {
    const ranked = new Map<PastRun, number>();
    for (const run of runs.values()) if (!run.isRead && subjectsOf(run.result).length === 0) ranked.set(run, 0);
    for (const entry of bySubject.values())
      for (const [rank, run] of entry.runs.entries())
        if (!run.isRead) ranked.set(run, Math.min(rank, ranked.get(run) ?? rank));
    return [...ranked].sort(([, a], [, b]) => a - b).map(([run]) => run);
  }

  async function read(run: PastRun): Promise<void> {
    const { workflowId, runId } = run.result;
    const handle = session.client.workflow.getHandle(workflowId ?? '', runId ?? '');
    const result = await closedResult(handle, run.result).catch((error: unknown) => {
      if (isUnreachable(error) || isLimited(error) || isDenied(error)) throw error;
      // A workflow that was deleted meanwhile, or whose result this program cannot read, stays as the list shows it.
      const unreadable = error instanceof PayloadError ? { unreadable: error.message } : {};
      return { ...run.result, outcome: listedOutcome(run.result), ...unreadable };
    });
    add(runId ?? '', { ...run, result: { ...result, workflowId, runId, endedAt: endOf(run) }, isRead: true });
  }

  return {
    unreadable: () => [...runs.values()].flatMap(({ result }) => (result.unreadable === undefined ? [] : [result])),
    subjects: () => [...bySubject.values()].map(({ subject }) => subject),
    of: (subject) => (bySubject.get(subjectKey(subject))?.runs ?? []).map((run) => verdictOf(session, run, subject)),
    list: () =>
      within(session, TIMING.client.listMs, 'list past runs', async () => {
        const sinceMs = Math.max(Date.now() - LOOK_BACK_MS, latestEndMs - OVERLAP_MS);
        for (const info of await listClosed(session, new Date(sinceMs).toISOString())) {
          latestEndMs = Math.max(latestEndMs, info.closeTime?.getTime() ?? 0);
          add(info.runId, runOfList(info));
        }
        sweep();
      }),
    readResults: () =>
      within(session, TIMING.client.listMs, 'read past runs', async () => {
        await pMap(unread().slice(0, READ_AT_ONCE), read, IN_PARALLEL);
      }),
    async readReceipts(folder) {
      const names = (await readdir(folder)).filter((it) => it.endsWith('.json') && !filesRead.has(it));
      for (const name of names.slice(0, FILES_AT_ONCE)) {
        filesRead.add(name);
        const run = runOfReceipt(parsedJson(await readFile(join(folder, name), 'utf8').catch(() => '')));
        if (run !== null) add(run.result.runId ?? name, run);
      }
    },
  };
}

const endOf = ({ result }: Pick<PastRun, 'result'>): string => result.endedAt ?? '';

function listClosed({ client, taskQueue }: Session, since: string): Promise<Listed[]> {
  const query = [ofTypes(RUN_TYPES), onQueue(taskQueue), closedAtOrAfter(since)].join(' AND ');
  return firstListed(client, query, MOST_LISTED);
}

function runOfList(info: Listed): PastRun {
  const memo = (info.memo ?? {}) as Partial<RunMemo>;
  const by = memo.by ?? info.parentExecution?.workflowId ?? null;
  return { result: { ...listedResult(info), outcome: recordedOutcome(info) }, by, isRead: false };
}

export function subjectsOf({ backup, deployments }: Pick<RunResult, 'backup' | 'deployments'>): BoardSubject[] {
  if (deployments.length > 0) return deployments.map(({ target }) => target);
  return backup === null ? [] : [{ kind: 'server', id: backup.serverId }];
}

export function partOf(result: RunResult, { kind, id }: BoardSubject): DeploymentResult | BackupResult | null {
  if (kind === 'server') return result.backup;
  return result.deployments.find(({ target }) => target.kind === kind && target.id === id) ?? null;
}

function verdictOf(session: Session, { result, by, isRead }: PastRun, subject: BoardSubject): PastVerdict {
  const { workflowId, runId, commit, backup } = result;
  const part = partOf(result, subject);
  const outcome = part?.outcome ?? (isRead ? result.outcome : listedOutcome(result));
  const listedStart = hasOnePart(result) ? result.startedAt : null;
  const startedAt = isRead ? (part?.startedAt ?? null) : listedStart;
  const endedAt = part?.endedAt ?? endOf({ result });
  const error = (part !== null && 'error' in part ? part.error : null) ?? result.error;
  return {
    workflowId: workflowId ?? '',
    runId: runId ?? '',
    outcome,
    evidence: part !== null && 'evidence' in part ? part.evidence : null,
    startedAt,
    endedAt,
    durationMs: durationMs(startedAt, endedAt),
    serverId: backup?.serverId ?? null,
    commit,
    by,
    error: outcome === 'completed' ? null : (error?.message ?? null),
    ui: linksOf(session, { workflowId, runId }).ui,
  };
}

/** `completed` is true of every part of a run. Any other outcome is that of the worst part. */
const listedOutcome = (result: RunResult): Outcome | null =>
  result.outcome === 'completed' || hasOnePart(result) ? result.outcome : null;

/** Whatever is known of such a run is true of its only part. */
const hasOnePart = ({ backup, deployments }: RunResult): boolean =>
  deployments.length + (backup === null ? 0 : 1) === 1;

const durationMs = (from: string | null, to: string): number | null =>
  from === null || to === '' ? null : Math.max(0, Date.parse(to) - Date.parse(from));

/** @returns null if the document is not the receipt of a run, or if it was changed */
function runOfReceipt(document: unknown): PastRun | null {
  if (verifyReceipt(document, answersBy(null)).problems.length > 0) return null;
  const { workflowId, runId, entries } = document as Receipt;
  const factsOf = <T>(what: Receipt['entries'][number]['what']) =>
    entries.filter((it) => it.what === what).map(({ facts }) => facts as unknown as T);
  const [request] = factsOf<Partial<RunResult & { type: string }>>('request');
  const end = entries.find((it) => it.what === 'end');
  if (end?.at == null || !(RUN_TYPES as readonly string[]).includes(request?.type ?? '')) return null;
  const [backup = null] = factsOf<BackupResult>('backup');
  const { outcome = null, error = null } = end.facts as Partial<RunResult>;
  const result = emptyResult({
    workflowId,
    runId,
    outcome,
    error,
    backup,
    endedAt: end.at,
    deployments: factsOf<DeploymentResult>('deployment'),
    commit: request?.commit ?? null,
    startedAt: entries[0]?.at ?? null,
  });
  return { result, by: null, isRead: true };
}
