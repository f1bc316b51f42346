/** The invariants of every draw, I1 to I3. outcomes.ts judges I4 where no other user deployed. Pure. */
import { backupServerId } from '../../src/contract/ids.ts';
import type { JournalEntry } from '../../src/sandbox/state.ts';
import {
  allowance,
  backupsOf,
  cite,
  deedsIn,
  deployKey,
  factsOf,
  hasWaitedForFreeze,
  lockOf,
  msOf,
  namesOf,
  normal,
  ofKey,
  operationOf,
  planFor,
  readsOf,
  type Effect,
  type Facts,
} from './facts.ts';
import { judgeGates } from './gates.ts';
import { judgeOutcomes } from './outcomes.ts';
import type { Played, PlayedRun } from './record.ts';
import { answersTo, namesDeployments } from './whose.ts';

export interface Judgement {
  violations: string[];
  /** The sites with a foreign deployment at the same time, or with a deployment shown too late. */
  apart: string[];
}

/** A request is sent within 5 s after its scheduling, and over 14 s after it. */
const UNDER_WAY_MS = 14_000;
const SENT_WITHIN_MS = 5_000;
/** The time between a read's arrival at the service and the record of its answer. */
const SLOW_READ_MS = 5_000;

export function judge(played: Played): Judgement {
  const facts = factsOf(played);
  const open = played.runs.filter(({ closedMs }) => closedMs === null);
  const { violations, apart } = judgeOutcomes(facts);
  return {
    violations: [
      ...open.map(({ workflowId }) => `I0: ${workflowId} never closed`),
      ...inFlight(facts),
      ...played.runs.flatMap((run) => [...onceEach(facts, run), ...afterBackup(facts, run)]),
      ...judgeGates(facts),
      ...violations,
    ],
    apart,
  };
}

/** I1: at most one of our deployments in flight per target, one of our backups per server. */
function inFlight(facts: Facts): string[] {
  const ours = facts.effects.filter(({ by }) => by === 'api');
  return ours.flatMap((later, index) =>
    ours
      .slice(0, index)
      .filter((earlier) => earlier.kind === later.kind && earlier.target === later.target)
      .filter((earlier) => earlier.key !== later.key && later.startedMs < earlier.endMs)
      .filter((earlier) => !givenUp(facts, earlier, later))
      // A baseline may be stale.
      .filter((earlier) => answersTo(facts, earlier.target)?.replica === undefined)
      .filter((earlier) => ![earlier, later].some((it) => isUnattended(facts, it)))
      .map(
        (earlier) =>
          `I1: two of our ${later.kind}s of ${later.target} in flight at once: ${cite(earlier.entry)} ends after ${cite(later.entry)}`,
      ),
  );
}

function operationOfEffect(facts: Facts, { kind, target, key }: Effect) {
  const lockId = kind === 'backup' ? backupServerId(target) : lockOf(target);
  return operationOf(facts, lockId, key?.split(':')[0]);
}

/** It began after its operation had been terminated, with its request under way. */
function isUnattended(facts: Facts, effect: Effect): boolean {
  const operation = operationOfEffect(facts, effect);
  return operation?.isTerminated === true && effect.startedMs >= (operation.closedMs ?? Infinity);
}

/**
 * No run waits for it, and no read could show it: a server lists no backups, and a deployment can lag, or is not the
 * latest once another one begins. If that is ours, too, the two are judged as a pair of their own.
 */
function givenUp(facts: Facts, earlier: Effect, later: Effect): boolean {
  const closed = (operationOfEffect(facts, earlier)?.closedMs ?? Infinity) <= later.startedMs;
  const late = earlier.lagMs > 0 && earlier.shownMs > later.startedMs - SENT_WITHIN_MS - SLOW_READ_MS;
  return closed && (earlier.kind === 'backup' || late || isReplaced(facts, earlier, later.startedMs));
}

function isReplaced({ effects }: Facts, { kind, target, startedMs }: Effect, beforeMs: number): boolean {
  const others = effects.filter((it) => it.kind === kind && it.target === target);
  return others.some((other) => other.startedMs > startedMs && other.startedMs < beforeMs);
}

/** I2: at most one effect per request. */
function onceEach(facts: Facts, run: PlayedRun): string[] {
  const steps = namesOf(run).flatMap((target) => {
    const effects = ofKey(facts.effects, deployKey(run, target));
    if (effects.length > 2)
      return [`I2: ${effects.length} deployments of ${target} for one request: ${cites(effects)}`];
    const [first, second] = effects;
    if (first === undefined || second === undefined) return [];
    const why = notExcused(facts, run, first, second);
    return why === null ? [] : [`I2: two deployments of ${target} for one request, ${why}: ${cites(effects)}`];
  });
  const keys = new Set(backupsOf(facts.effects, run).map(({ key }) => key ?? ''));
  return [...steps, ...[...keys].flatMap((key) => backupOnce(facts, run, ofKey(facts.effects, key)))];
}

function backupOnce(facts: Facts, run: PlayedRun, backups: Effect[]): string[] {
  const [first, second] = backups;
  if (first === undefined || second === undefined) return [];
  const name = `I2: ${backups.length} backups of ${run.input.serverId} for one request`;
  if (backups.length > 2) return [`${name}: ${cites(backups)}`];
  if (!isAmbiguous(facts, first, second)) return [`${name}, the first was answered: ${cites(backups)}`];
  if (second.startedMs - first.startedMs >= UNDER_WAY_MS - SENT_WITHIN_MS) return [];
  return [`${name}, the second while the first may have been in progress: ${cites(backups)}`];
}

const cites = (effects: Effect[]) => effects.map(({ entry }) => cite(entry)).join(' ');

const isAmbiguous = (facts: Facts, first: Effect, second: Effect) =>
  first.entry.fault !== null || deedsIn(facts, first.startedMs - 1_000, second.startedMs) > 0;

/** Why a second deployment is a violation although the service may have shown no trace of the first, or null. */
function notExcused(facts: Facts, run: PlayedRun, first: Effect, second: Effect): string | null {
  const { settleMs, intervalMs, onAmbiguous } = planFor(run).deploy;
  const site = first.target;
  if (onAmbiguous === 'stop') return 'and the run was to stop';
  if (!isAmbiguous(facts, first, second)) return 'the first was answered';
  if (second.startedMs - first.startedMs < settleMs + UNDER_WAY_MS - SENT_WITHIN_MS - 1_000)
    return `${second.startedMs - first.startedMs} ms apart, before the settle time was over`;
  const before =
    readsOf(facts, site, 0, first.startedMs)
      .filter(({ maybe }) => maybe)
      .at(-1)?.word ?? null;
  const between = readsOf(facts, site, first.startedMs, second.startedMs);
  const how = answersTo(facts, site);
  const mayShow = (id: string | null) => how === undefined || !namesDeployments(how) || id === first.id;
  const traces = between.filter(
    ({ sure, state, word, entry }) =>
      sure &&
      mayShow(entry.shows) &&
      (state === 'in_progress' || before === null || normal(word ?? '') !== normal(before)),
  );
  const lost = allowance(facts, run, site, first.startedMs, second.startedMs);
  if (traces.length > lost) return `and ${traces.length} reads showed a trace of the first, ${cite(traces[0]!.entry)}`;
  const answered = between.filter(({ answers }) => answers);
  const times = [first.startedMs, ...answered.map(({ atMs }) => atMs), second.startedMs];
  const gapMs = Math.max(...times.slice(1).map((ms, index) => ms - times[index]!));
  return gapMs <= intervalMs + 5_000 + SLOW_READ_MS + SENT_WITHIN_MS ? null : `and no read for ${gapMs} ms`;
}

/** I3: no deployment before the backup of its run was read as completed. */
function afterBackup(facts: Facts, run: PlayedRun): string[] {
  if (run.type !== 'backupThenDeploy') return [];
  const keys = namesOf(run).map((target) => deployKey(run, target));
  const first = facts.triggers.find(({ idempotencyKey }) => keys.includes(idempotencyKey ?? ''));
  if (first === undefined) return [];
  // A run that never closed has no result, but its own backup is in the journal.
  const own = backupsOf(facts.effects, run);
  const backupId = run.result?.backup?.backupId ?? own.at(-1)?.id ?? null;
  // Neither has a run that was terminated, and it may have used a backup of another run.
  if (backupId === null && run.result === null && run.closedMs !== null) return afterSomeBackup(facts, run, first);
  if (backupId === null) return [`I3: ${run.workflowId} uses no backup, and sent ${cite(first)}`];
  // After a wait for a freeze, the result names the last one. The first may have been one of another run.
  const relied = [backupId, ...own.map(({ id }) => id)];
  const reads = relied.flatMap((id) => readsOf(facts, id, 0, msOf(first.at)));
  if (reads.some(({ maybe, state }) => maybe && state === 'completed')) return [];
  if (reads.length === 0 && hasWaitedForFreeze(run)) return afterSomeBackup(facts, run, first);
  const last = reads.at(-1);
  return [
    `I3: ${cite(first)} before backup ${backupId} of ${run.input.serverId} was read as completed, last read ${last === undefined ? 'none' : cite(last.entry)}`,
  ];
}

function afterSomeBackup(facts: Facts, { workflowId, input }: PlayedRun, first: JournalEntry): string[] {
  const backups = facts.effects.filter(({ kind, target }) => kind === 'backup' && target === input.serverId);
  const isRead = backups
    .flatMap(({ id }) => readsOf(facts, id, 0, msOf(first.at)))
    .some(({ maybe, state }) => maybe && state === 'completed');
  return isRead ? [] : [`I3: ${workflowId} sent ${cite(first)}, and no backup was read as completed before`];
}
