/** Sets, ends and lists ad-hoc freezes. Only setting a freeze needs a worker. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import pMap from 'p-map';
import { freezeId, isFreezeId } from '../../contract/ids.ts';
import { CONFIRM_UPDATE, FREEZE_TYPE, SIGNALS } from '../../contract/names.ts';
import type {
  AdHocFreeze,
  FreezeScope,
  FreezeConfirmation,
  FreezeMemo,
  FreezeOverride,
  RunningFreeze,
} from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { scopeText, blocksText, utcText } from './text.ts';
import { plainText, codeSpan, shellWord } from '../../contract/safe-text.ts';
import {
  extendFreeze,
  holdsNoLess,
  joinFreezes,
  planFreeze,
  problemOfField,
  problemOfScope,
  type NewFreeze,
} from './request.ts';
import { refuseUnknown } from '../../client/check-options.ts';
import { firstListed, ofType, RUNNING } from '../../client/list-filter.ts';
import { requireWorkers } from '../../client/workers.ts';
import { serverTimeMs } from '../../client/server-time.ts';
import { type Session, IN_PARALLEL } from '../../client/session.ts';
import { unlessMissing } from '../../client/read-workflow.ts';
import { within } from '../../client/within.ts';
import { leniently } from '../../encryption/payload-codec.ts';
import { isAttributeError, isLimited, isOutOfTime } from '../../client/transport/grpc-errors.ts';
import { failingAtLimits } from '../../client/transport/grpc-retries.ts';
import { acceptsSignals } from '../../client/lookups/signals.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { detailsPage, factList } from '../../contract/markdown.ts';

export interface Thawed {
  /** Null if the memo of the freeze could not be read. */
  freeze: AdHocFreeze | null;
  /** Workflow ids of the runs and rollouts that were told to look again now. */
  woken: string[];
}

export interface BegunFreeze {
  freeze: AdHocFreeze;
  /** What the worker says about the freeze that you may not expect. Null if there is nothing to say. */
  note: string | null;
}

/** Every method throws a BelayError if it fails. */
export interface Freezes {
  /**
   * Freezes a scope from now on. When it resolves, a worker has confirmed that the freeze is in force, and no request
   * that was judged before can still leave. If the worker refuses the freeze or none answers, nothing new is frozen.
   * A freeze that `extend` meets stays in force, with its new end, in both cases. If several calls extend a freeze at once,
   * one that holds back what all of them asked for stays in force. Throws `Usage` for an unknown field.
   */
  begin(freeze: NewFreeze): Promise<BegunFreeze>;
  /**
   * Ends a freeze, and wakes what waits for it. Throws `NotFound` if the scope has no freeze, and `Usage` if the freeze is
   * extended in the same moment: then it stays in force.
   */
  thaw(scope: FreezeScope, why: { reason: string; by?: string }): Promise<Thawed>;
  /** Returns the freezes that are running. The list lags a moment. */
  list(): Promise<RunningFreeze[]>;
  /** Returns those of these workflow ids that are running freezes, without a lag. */
  find(workflowIds: readonly string[]): Promise<RunningFreeze[]>;
}

const BEGIN_MS = TIMING.client.startMs + TIMING.freeze.confirmedWithinMs;

export function createFreezes(session: Session): Freezes {
  const soon = <T>(what: string, act: () => Promise<T>) => within(session, TIMING.client.startMs, what, act);
  return {
    begin: (freeze) => within(session, BEGIN_MS, 'freeze', () => begin(session, freeze)),
    thaw: (scope, why) => soon('thaw', () => thaw(session, scope, why)),
    list: () => soon('list freezes', () => list(session)),
    find: (ids) => soon('find freezes', () => findFreezes(session.client, ids)),
  };
}

const NEW_FREEZE: Record<keyof NewFreeze, true> = {
  scope: true,
  until: true,
  forMs: true,
  reason: true,
  by: true,
  backups: true,
  override: true,
  extend: true,
};

async function begin(session: Session, asked: NewFreeze): Promise<BegunFreeze> {
  refuseUnknown('freezes.begin', asked, NEW_FREEZE);
  const { client, namespace, by } = session;
  // Uses Temporal's clock, because workers judge by it.
  const nowMs = Math.round(await serverTimeMs(client.connection, namespace).catch(() => Date.now()));
  const planned = orUsage(planFreeze({ ...asked, by: asked.by ?? by }, nowMs));
  await requireWorkers(session);
  // Another person may extend the freeze in the same moment. Then a further round joins both, so that each of them gets
  // what they asked for: a freeze that holds no less is only confirmed, and any other one is replaced.
  for (let [joins, rounds] = [false, 1]; ; rounds += 1) {
    const lookedMs = Date.now();
    const before = await lookUp(client, freezeId(planned.scope));
    // A freeze whose memo cannot be read holds back everything, so it counts as one in force.
    const isReplaced = before !== null && !(Date.parse(before.found.freeze?.until ?? '') <= nowMs);
    const replaced = isReplaced ? readable(before.found) : null;
    if (replaced !== null && !joins && asked.extend !== true) throw alreadyFrozen(planned.scope, replaced);
    const sufficient: AdHocFreeze | null =
      joins && replaced !== null && holdsNoLess(replaced, planned) ? replaced : null;
    const freeze: AdHocFreeze = sufficient ?? nextFreeze(replaced, planned, joins);
    const runId: string | null =
      sufficient === null
        ? await start(session, freeze, { nowMs, lookedMs, before, isReplaced, isLast: rounds === MAX_ROUNDS })
        : before!.runId;
    const confirmation = runId === null ? null : await confirmed(session, { freeze, runId, isReplaced });
    if (confirmation !== null) return { freeze, ...confirmation };
    joins ||= isReplaced || runId !== null;
  }
}

/** What is under the id of the freeze before it starts. */
interface Look {
  /** By Temporal's clock. */
  nowMs: number;
  /** By this machine's clock. */
  lookedMs: number;
  before: Running | null;
  /** Whether `before` is in force. */
  isReplaced: boolean;
  isLast: boolean;
}

/** How often a freeze is replaced before Temporal counts as too slow for it. */
const MAX_ROUNDS = 5;

function nextFreeze(replaced: AdHocFreeze | null, planned: AdHocFreeze, joins: boolean): AdHocFreeze {
  if (replaced === null) return planned;
  return joins ? joinFreezes(replaced, planned) : orUsage(extendFreeze(replaced, planned));
}

/** @returns the run id, or null if the freeze may not have been started, and what is in force has to be looked up again */
async function start(
  { client, taskQueue }: Session,
  freeze: AdHocFreeze,
  { nowMs, lookedMs, before, isReplaced, isLast }: Look,
): Promise<string | null> {
  const workflowId = freezeId(freeze.scope);
  const startAs = async (workflowIdConflictPolicy: 'FAIL' | 'TERMINATE_EXISTING') => {
    const handle = await client.workflow.start(FREEZE_TYPE, {
      ...freezeStartOptions(freeze),
      workflowId,
      taskQueue,
      args: [freeze, isReplaced],
      workflowExecutionTimeout: Date.parse(freeze.until) - nowMs + TIMING.freeze.closeWithinMs,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy,
    });
    return handle.firstExecutionRunId;
  };
  try {
    // Temporal replaces whatever runs by now. A freeze that began since the look is not confirmed before this deadline,
    // so whoever began it learns that it was replaced.
    if (isReplaced)
      return await client.withDeadline(lookedMs + TIMING.freeze.inForceAfterMs, () =>
        failingAtLimits(() => startAs('TERMINATE_EXISTING')),
      );
    if (before !== null)
      await unlessMissing(client.workflow.getHandle(workflowId, before.runId).terminate('it is over'));
    return await startAs('FAIL');
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    if (!isReplaced || !(isLimited(error) || isOutOfTime(error))) throw error;
    if (isLast) throw tooSlow(workflowId);
    // Temporal replaces no workflow that is younger than this.
    await sleep(TIMING.freeze.replacedAfterMs);
    return null;
  }
}

/**
 * @returns the worker's note, or null if another freeze has replaced this one. @throws BelayError if the freeze is not in
 * force; then it has ended, unless it replaced another one
 */
async function confirmed(
  { client }: Session,
  { freeze, runId, isReplaced }: { freeze: AdHocFreeze; runId: string; isReplaced: boolean },
): Promise<{ note: string | null } | null> {
  const workflowId = freezeId(freeze.scope);
  const handle = client.workflow.getHandle(workflowId, runId);
  const asked = client.withDeadline(Date.now() + TIMING.freeze.confirmedWithinMs, () =>
    handle.executeUpdate<FreezeConfirmation, []>(CONFIRM_UPDATE),
  );
  const confirmation = await asked.catch(() => null);
  if (confirmation !== null && confirmation.problem === null) return { note: confirmation.note };
  const problem = confirmation === null ? null : `the worker's belay.yaml says: ${confirmation.problem}`;
  if (problem !== null && !isReplaced) throw new BelayError('Usage', `nothing is frozen, because ${problem}`);
  // A worker does not wait before it answers so.
  if (problem !== null) await sleep(TIMING.freeze.inForceAfterMs);
  const running = await lookUp(client, workflowId);
  if (running === null) {
    const remedy = 'repeat it if it should be in force';
    throw new BelayError('NotFound', `${workflowId} was ended before a worker confirmed it: ${remedy}`);
  }
  if (running.runId !== runId) return null;
  if (problem !== null) return { note: `the new end is set, but ${problem}` };
  if (isReplaced) throw unconfirmed('the new end is set, and `belay freezes` lists it');
  await handle.terminate('no worker confirmed it');
  throw unconfirmed('nothing new is frozen. Start a worker and repeat it, or add the freeze to its belay.yaml');
}

const unconfirmed = (rest: string) => new BelayError('NoWorker', `no worker confirmed the freeze in time: ${rest}`);

function orUsage(planned: AdHocFreeze | string): AdHocFreeze {
  if (typeof planned === 'string') throw new BelayError('Usage', planned);
  return planned;
}

function alreadyFrozen(scope: FreezeScope, { until, reason }: AdHocFreeze): BelayError {
  const since = `until ${utcText(until)} because "${plainText(reason)}"`;
  const remedy = 'use --extend for a later end, or thaw it first';
  return new BelayError('Usage', `${scopeText(scope)} is frozen already ${since}: ${remedy}`);
}

async function thaw(session: Session, scope: FreezeScope, why: { reason: string; by?: string }): Promise<Thawed> {
  refuseUnknown('freezes.thaw', why, { reason: true, by: true });
  const { reason, by = session.by } = why;
  const problem = problemOfScope(scope) ?? problemOfField('reason', reason) ?? problemOfField('by', by);
  if (problem !== null) throw new BelayError('Usage', problem);
  const workflowId = freezeId(scope);
  const { client } = session;
  const running = await lookUp(client, workflowId);
  if (running === null) throw notFrozen(workflowId);
  const handle = client.workflow.getHandle(workflowId, running.runId);
  const ending = handle.terminate(`thawed by ${plainText(by)}: ${plainText(reason)}`).then(() => 'ended');
  if ((await unlessMissing(ending)) === null) {
    if ((await lookUp(client, workflowId)) === null) throw notFrozen(workflowId);
    const remedy = 'look at `belay freezes`, and thaw it again if it should end';
    throw new BelayError('Usage', `${workflowId} was extended or set anew in this moment, and is in force: ${remedy}`);
  }
  return { freeze: running.found.freeze, woken: await wakeFrozen(client).catch(() => []) };
}

const tooSlow = (workflowId: string) =>
  new BelayError(
    'TemporalUnreachable',
    `Temporal is too slow to replace ${workflowId}, which stays in force as it is: repeat it, or thaw it and freeze anew`,
  );

const notFrozen = (workflowId: string) =>
  new BelayError('NotFound', `there is no ${workflowId}: \`belay freezes\` lists what is frozen`);

async function list({ client }: Session): Promise<RunningFreeze[]> {
  const found = await firstListed(client, `${ofType(FREEZE_TYPE)} AND ${RUNNING}`);
  return found.map(({ workflowId, memo, unreadable }) => runningFreeze(workflowId, memo, unreadable));
}

/*
 * Wakes the runs and rollouts that wait for a freeze. A workflow that misses the signal looks by itself a while later.
 */

const MAX_WOKEN = 1_000;
/** A rollout has the phase `paused` while it waits for a freeze. */
const WAITING = `(BelayPhase = 'frozen' OR BelayPhase = 'paused') AND ${RUNNING}`;

/** @returns the workflow ids that received the signal */
export async function wakeFrozen(client: Client): Promise<string[]> {
  const waiting = await firstListed(client, WAITING, MAX_WOKEN).catch((error: unknown) => {
    // Without the search attributes, no search can find them.
    if (isAttributeError(error)) return [];
    throw error;
  });
  const ids = waiting.map(({ workflowId }) => workflowId);
  const woken = await pMap(ids, (id) => wake(client, id).catch(() => false), IN_PARALLEL);
  return ids.filter((_, index) => woken[index]);
}

async function wake({ workflow }: Client, workflowId: string): Promise<boolean> {
  const handle = workflow.getHandle(workflowId);
  if (!(await acceptsSignals(handle, undefined))) return false;
  await handle.signal(SIGNALS.thawed);
  return true;
}

/* Finds ad-hoc freezes by id, which is consistent at once. A search would lag. */

/** @returns the freezes that are running now */
export async function findFreezes(client: Client, workflowIds: readonly string[]): Promise<RunningFreeze[]> {
  const running = await pMap(workflowIds, (id) => lookUp(client, id), IN_PARALLEL);
  return running.flatMap((it) => (it === null ? [] : [it.found]));
}

/**
 * Returns what is left of an override from an earlier time, for work that starts again. An override of a freeze that a
 * person set ends with that freeze: a later one under the same id holds.
 */
export async function leftOfOverride(
  { client }: Session,
  override: FreezeOverride,
  since: string,
): Promise<FreezeOverride | undefined> {
  const running = await findFreezes(client, override.freezes.filter(isFreezeId));
  const held = running.filter((it) => readable(it).since <= since);
  const freezes = override.freezes.filter((it) => !isFreezeId(it) || held.some(({ workflowId }) => workflowId === it));
  return freezes.length === 0 ? undefined : { ...override, freezes };
}

interface Running {
  found: RunningFreeze;
  /** An extension has another one. */
  runId: string;
}

/** @returns null if the freeze is not running. @throws if Temporal does not answer */
async function lookUp({ workflow }: Client, workflowId: string): Promise<Running | null> {
  const { answer, unreadable } = await leniently(() => unlessMissing(workflow.getHandle(workflowId).describe()));
  if (answer?.status.name !== 'RUNNING') return null;
  return { found: runningFreeze(workflowId, answer.memo, unreadable), runId: answer.runId };
}

/** For what replaces a freeze or judges by it. @throws BelayError `Usage` if this client cannot read the freeze */
function readable({ workflowId, freeze, unreadable }: RunningFreeze): AdHocFreeze {
  if (freeze !== null) return freeze;
  const remedy = unreadable === undefined ? 'its memo is not that of a freeze:' : `${unreadable}, or`;
  throw new BelayError('Usage', `${workflowId} is in force, and cannot be read: ${remedy} thaw it first`);
}

function runningFreeze(
  workflowId: string,
  memo: Record<string, unknown> | undefined,
  unreadable: string | null,
): RunningFreeze {
  const freeze: RunningFreeze = { workflowId, freeze: freezeIn(memo) };
  return freeze.freeze !== null || unreadable === null ? freeze : { ...freeze, unreadable };
}

/** A freeze that was started from the UI may have another memo, or none. */
function freezeIn(memo: Record<string, unknown> | undefined): AdHocFreeze | null {
  const { freeze } = (memo ?? {}) as Partial<FreezeMemo>;
  if (!isRecord(freeze)) return null;
  const { until, reason, by, blocks } = freeze as Partial<AdHocFreeze>;
  const isText = [until, reason, by].every((it) => typeof it === 'string');
  return isText && Array.isArray(blocks) && !Number.isNaN(Date.parse(until!)) ? freeze : null;
}

export function freezeStartOptions(freeze: AdHocFreeze) {
  const memo: FreezeMemo = { freeze };
  return {
    memo: { ...memo },
    staticSummary: plainText(`Freeze of ${scopeText(freeze.scope)}`, 120),
    staticDetails: freezeStaticDetails(freeze),
    workflowTaskTimeout: TIMING.worker.workflowTaskMs,
  };
}

function freezeStaticDetails(freeze: AdHocFreeze): string {
  const { scope, since, until, reason, by, override } = freeze;
  return detailsPage(
    `Holds back ${blocksText(freeze)} of ${scopeText(scope, codeSpan)}. The running workflow is the freeze: it holds ` +
      'even while no worker runs. What is in progress at the service continues.',
    factList({
      Reason: codeSpan(reason),
      'Set by': `${codeSpan(by)} at ${utcText(since)}`,
      Until: utcText(until),
      Override: override === 'never' ? 'no run may be let off' : 'a run may be let off, with a reason',
    }),
    `End it: ${codeSpan(`belay thaw${scopeFlags(scope)} --reason TEXT`)}, which also wakes the runs that wait for it.`,
  );
}

const scopeFlags = (scope: FreezeScope): string =>
  scope.kind === 'all' ? '' : ` --${scope.kind} ${shellWord(scope.id)}`;
