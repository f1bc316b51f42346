/**
 * Decides whether a final status is that of our deployment. The latest-deployment endpoint returns a status without an
 * id, so a verdict needs evidence. Pure: times are milliseconds since 1970.
 */
import { EVIDENCE, type Evidence } from '../contract/names.ts';
import type { AnswerWithIds, DeploymentIds, ReadResult } from '../contract/activities.ts';
import { normalizeStatus } from './status-words.ts';

/*
 * Compares ids to tell whether an answer of the latest-deployment endpoint can be about our deployment. The bodies are
 * not documented, and a field that looks like an id may be that of a site or job, so ids are compared field by field.
 * Pure.
 */

/** What is known before the first read. */
interface KnownIds {
  /** What reads before the request have shown: the baseline, and others if a replica lagged in between. */
  before: readonly DeploymentIds[];
  trigger: DeploymentIds;
  /** The ids of the target and its server. They identify no deployment. */
  others: readonly string[];
  /** Whether the user said which field is the id of a deployment, in both answers. */
  isNamed: boolean;
}

/** What reads have shown since the trigger. */
interface SeenIds {
  /** Our id, by the fields of the latest answer that show it. Empty while our id is unknown. */
  own: DeploymentIds;
  /** True if `own` is the trigger's id, which then stays ours. */
  isTriggers: boolean;
  /** The fields that have shown another id than before the request, so they are no constants. */
  moved: readonly string[];
}

const NO_IDS_SEEN: SeenIds = { own: {}, isTriggers: false, moved: [] };

/**
 * What the ids of an answer say. `open`: it may be about our deployment. `kept`: it may be, although a field keeps the
 * baseline's id, as a constant or a lagging replica would. `third`: it may be, if the trigger's id is not that of a
 * deployment. `before`: it shows an id from before the request. `another`: it shows another id than ours.
 */
type Standing = 'open' | 'kept' | 'third' | 'before' | 'another';

interface IdAnswer {
  ids?: DeploymentIds | undefined;
  isInProgress: boolean;
}

function noteIds(known: KnownIds, seen: SeenIds, answer: IdAnswer): SeenIds {
  const ids = idsIn(known, answer);
  const isOther = (field: string) => known.before.some((it) => it[field] !== undefined && it[field] !== ids[field]);
  const moved = Object.keys(ids).filter(isOther);
  const before = { ...seen, moved: [...new Set([...seen.moved, ...moved])] };
  const triggers = triggerIdsIn(known, answer);
  if (!isEmpty(triggers)) return { ...before, own: triggers, isTriggers: true };
  const fresh = freshIdsIn(known, answer);
  const mayBeOurs = answer.isInProgress && !isEmpty(fresh) && !seen.isTriggers && !isOursKnown(known);
  return mayBeOurs ? { ...before, own: fresh } : before;
}

/**
 * @param seen ids that include those of this answer
 * @param hasLeft whether the status left the baseline's final word while a field kept the baseline's id
 */
function standingOf(known: KnownIds, seen: SeenIds, answer: IdAnswer, hasLeft: boolean): Standing {
  const ids = idsIn(known, answer);
  if (!isEmpty(triggerIdsIn(known, answer))) return 'open';
  const kept = Object.keys(ids).filter((field) => known.before.some((it) => it[field] === ids[field]));
  if (isOursKnown(known) && !isEmpty(ids)) return kept.length > 0 ? 'before' : 'another';
  const compared = Object.keys(ids).filter((field) => field in seen.own);
  if (compared.some((field) => ids[field] === seen.own[field])) return 'open';
  if (compared.length > 0) return 'another';
  if (kept.length > 0) return hasLeft && !kept.some((field) => seen.moved.includes(field)) ? 'kept' : 'before';
  const awaitsTriggers = !seen.isTriggers && newTriggerIds(known).length > 0;
  return awaitsTriggers && !answer.isInProgress && !isEmpty(ids) ? 'third' : 'open';
}

/** Returns the ids that this answer shares with the trigger's answer and that no earlier answer had, in any field. */
function triggerIdsIn(known: KnownIds, answer: Pick<IdAnswer, 'ids'>): DeploymentIds {
  const triggered = newTriggerIds(known);
  return only(idsIn(known, answer), (id) => triggered.includes(id));
}

function freshIdsIn(known: KnownIds, answer: Pick<IdAnswer, 'ids'>): DeploymentIds {
  const old = known.before.flatMap((it) => Object.values(it));
  return only(idsIn(known, answer), (id) => !old.includes(id));
}

const isEmpty = (ids: DeploymentIds): boolean => Object.keys(ids).length === 0;

/** An id that was found by its name may be that of a job until the latest answer has shown it. */
const isOursKnown = (known: KnownIds): boolean => known.isNamed && newTriggerIds(known).length > 0;

function newTriggerIds({ before, trigger, others }: KnownIds): string[] {
  const known = [...before.flatMap((it) => Object.values(it)), ...others];
  return Object.values(trigger).filter((id) => !known.includes(id));
}

const idsIn = ({ others }: KnownIds, { ids = {} }: Pick<IdAnswer, 'ids'>): DeploymentIds =>
  only(ids, (id) => !others.includes(id));

const only = (ids: DeploymentIds, isMeant: (id: string) => boolean): DeploymentIds =>
  Object.fromEntries(Object.entries(ids).filter(([, id]) => isMeant(id)));

/** Adds an answer as the last one if it has ids. Of answers with the same ids, only the last one stays. */
export function keepAnswer(list: AnswerWithIds[], { ids: shown = {}, status, state }: Shown): void {
  if (isEmpty(shown)) return;
  const ids = list.findLast((it) => isPartOf(shown, it.ids))?.ids ?? shown;
  const others = list.filter((it) => !isPartOf(it.ids, ids));
  list.splice(0, list.length, ...others, { ids, status, state });
}

const isPartOf = (some: DeploymentIds, all: DeploymentIds): boolean =>
  Object.entries(some).every(([field, id]) => all[field] === id);

export type StatusReading = Extract<ReadResult, { ok: true }>;

/** An answer, as far as answers are compared. */
export type Shown = Pick<StatusReading, 'ids' | 'status' | 'state'>;

/** What the page of the site shows that it did not show before the trigger: the expected commit, or another commit. */
export type CommitEvidence = 'identity' | 'changed';

const SETTLED_READS = 4;

export interface VerdictContext {
  /** The status just before the trigger. Null if the site had never been deployed. */
  baseline: StatusReading | null;
  /** True if the trigger is known to be accepted. Until then, no status counts as settled. */
  accepted: boolean;
  triggerIds: DeploymentIds;
  /** What all reads before the request have shown: a replica that lags may have answered the baseline. */
  earlierAnswers: readonly AnswerWithIds[];
  otherIds: readonly string[];
  /** Whether `deploymentId` names the field of the ids. Default: no. */
  idsAreNamed?: boolean;
  settleMs: number;
  minEvidence: Evidence;
}

/** What reads have shown since the trigger. */
export interface Observations {
  ids: SeenIds;
  standing: Standing;
  /** True if a read that may be about our deployment was in progress. */
  inProgress: boolean;
  /** True if a read that is about another deployment was in progress. */
  foreign: boolean;
  /**
   * Set if the status left its final word while a field kept the baseline's id. Null if it did not, or if that field
   * has changed since.
   */
  kept: { inProgress: boolean } | null;
  row: Row;
}

/** Reads in a row that returned the same final word. */
interface Row {
  /** The normalized word. Null before the first read. */
  word: string | null;
  /** How many reads. Hinted reads do not count. */
  reads: number;
  /** Null if the next read begins the row. */
  sinceMs: number | null;
}

const BROKEN_ROW: Row = { word: null, reads: 0, sinceMs: null };

export const NO_OBSERVATIONS: Observations = {
  ids: NO_IDS_SEEN,
  standing: 'open',
  inProgress: false,
  foreign: false,
  kept: null,
  row: BROKEN_ROW,
};

/**
 * Forgets what reads before the answer to the request showed of another deployment, if that answer tells which one is
 * ours.
 */
export function onlyOfOurs(context: VerdictContext, seen: Observations): Observations {
  const known = knownIds(context);
  const triggers = newTriggerIds(known);
  const isOurs = Object.values(seen.ids.own).every((id) => triggers.includes(id));
  return !isOursKnown(known) || isOurs ? seen : { ...NO_OBSERVATIONS, ids: { ...NO_IDS_SEEN, moved: seen.ids.moved } };
}

/** Only reads after the acceptance and after an outage count towards the settle time. */
export const startRow = (seen: Observations, nowMs: number): Observations => ({
  ...seen,
  row: { ...BROKEN_ROW, sinceMs: nowMs },
});

export type Verdict =
  | { kind: 'verdict'; outcome: 'completed' | 'failed'; evidence: Evidence }
  /** The evidence is too weak, and no stronger evidence can be expected. */
  | { kind: 'unproven'; evidence: Evidence }
  | null;

export function observe(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  { own, nowMs }: ReadAt,
): Observations {
  const known = knownIds(context);
  const answer = idAnswer(reading);
  const { isInProgress } = answer;
  const ids = noteIds(known, seen.ids, answer);
  // A field that shows another id is no constant: a replica lagged, and what it showed is not ours.
  const isForgotten = seen.kept !== null && ids.moved.length > seen.ids.moved.length;
  const before = isForgotten ? { ...seen, kept: null, row: BROKEN_ROW } : seen;
  const hasLeft = before.kept !== null || leavesFinalWord(context, reading);
  const standing = standingOf(known, ids, answer, hasLeft);
  const isKept = standing === 'kept';
  return {
    ids,
    standing,
    inProgress: seen.inProgress || (isInProgress && standing === 'open'),
    foreign: seen.foreign || (isInProgress && contradicts(standing)),
    kept: isKept ? { inProgress: isInProgress || before.kept?.inProgress === true } : before.kept,
    row: isInProgress || contradicts(standing) ? BROKEN_ROW : longerRow(before.row, reading, own, nowMs),
  };
}

function longerRow({ word, reads, sinceMs }: Row, { status }: StatusReading, own: boolean, nowMs: number): Row {
  const now = normalizeStatus(status);
  const added = own ? 1 : 0;
  if (word !== null && word !== now) return { word: now, reads: added, sinceMs: nowMs };
  return { word: now, reads: reads + added, sinceMs: sinceMs ?? nowMs };
}

/** True if an answer is about another deployment, so that it is neither an end nor a trace of ours. */
export const contradicts = (standing: Standing): boolean => standing === 'before' || standing === 'another';

/** How a read was made, and what the site itself has shown by then. */
export interface ReadAt {
  /** False for a read that followed a hint. */
  own: boolean;
  nowMs: number;
  /** When it was answered, or earlier: the workflow may have heard of it much later. Default: now. */
  answeredMs?: number;
  shownBySite?: CommitEvidence | null;
}

export interface Judged {
  seen: Observations;
  /** The strongest evidence so far, whether or not it decides. */
  evidence: Evidence | null;
  verdict: Verdict;
}

/** @param before observations without this reading */
export function judge(given: VerdictContext, before: Observations, reading: StatusReading, at: ReadAt): Judged {
  const { nowMs, answeredMs = nowMs, shownBySite = null } = at;
  const { state } = reading;
  const context = isTriggerInDoubt(given, before, reading) ? { ...given, triggerIds: {} } : given;
  const seen = observe(context, before, reading, at);
  const ofStatus = state === 'in_progress' ? null : evidenceFor(context, seen, reading, answeredMs);
  if (ofStatus === null || state === 'in_progress') {
    const wasInProgress = seen.inProgress || seen.kept?.inProgress === true;
    return { seen, evidence: wasInProgress ? 'transition' : null, verdict: null };
  }
  const evidence = labelledBySite(ofStatus, state, shownBySite);
  let verdict: Verdict = null;
  if (!hasLostIdsTooEarly(context, seen, reading, answeredMs)) {
    if (isEnough(evidence, context.minEvidence)) verdict = { kind: 'verdict', outcome: state, evidence };
    else if (context.accepted && rowIsOld(context, seen, answeredMs)) verdict = { kind: 'unproven', evidence };
  }
  return { seen, evidence, verdict };
}

/**
 * Returns the strongest evidence in the status and its ids that this final status belongs to our deployment, or null.
 */
function evidenceFor(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  nowMs: number,
): Evidence | null {
  const { baseline, accepted } = context;
  const { standing, kept } = seen;
  if (contradicts(standing)) return null;
  if (isIdentified(context, reading)) return 'identity';
  const isSettled = hasLasted(context, seen, nowMs);
  if (standing !== 'open' && !isSettled) return null;
  if (seen.inProgress || (standing === 'kept' && kept?.inProgress === true)) return 'transition';
  if (baseline !== null && !sameStatus(baseline, reading)) return 'changed';
  if (!accepted || !isSettled) return null;
  // Without a baseline, a status proves that something was deployed. It has to last, because a 404 may be wrong.
  return baseline === null ? 'changed' : 'settled';
}

/**
 * A page proves that our code is live, but not that a status is about our deployment. So the page decides nothing. It
 * gives stronger evidence to a status that decides anyway, unless that status is the `failed` of before.
 */
export function labelledBySite(
  ofStatus: Evidence,
  state: 'completed' | 'failed',
  shown: CommitEvidence | null,
): Evidence {
  if (shown === null || (ofStatus === 'settled' && state === 'failed')) return ofStatus;
  return isEnough(ofStatus, shown) ? ofStatus : shown;
}

export const ID_FIELD_REMEDY =
  'if that is not the id of a deployment, name the field that is, or none, as deploymentId in belay.yaml';

export const NEVER_SHOWN_REMEDY =
  'if the id in its answer to the request is not that of a deployment, set deploymentId to none in belay.yaml';

/** A reading that shows that a deployment began after the baseline, and how it shows this. */
export interface Trace {
  reading: StatusReading;
  by: 'transition' | 'changed';
  /**
   * Why it may be no trace of ours; null if nothing speaks against it. `taken_back`: a later answer took the change back,
   * so it may be that of a replica that lags, or of a deployment before ours. `appeared`: see `isAppearedIdAlone`. `once`:
   * only the id differs from the baseline, and the trace before did not have it, so it may differ in each answer. `no_id`:
   * see `hasLostIdsTooEarly`.
   */
  doubt: 'taken_back' | 'appeared' | 'once' | 'no_id' | null;
}

/**
 * Finds a trace, to reconcile an ambiguous trigger. An id that the baseline lacked is a trace, even beside an id that
 * stays: whether the end of that deployment can be told is another question, and no second request may follow.
 *
 * @param seen observations that include this reading
 * @param before the trace of earlier reads
 */
export function traceOf(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  { nowMs, before = null }: { nowMs: number; before?: Trace | null },
): Trace | null {
  const { standing } = seen;
  if (standing === 'another') return null;
  const fresh = freshIdsIn(knownIds(context), reading);
  const hasNewId = !isEmpty(fresh);
  if (!hasNewId && (standing === 'before' || standing === 'kept')) return null;
  if (reading.state === 'in_progress') return { reading, by: 'transition', doubt: null };
  const isSame = sameStatus(context.baseline, reading);
  if (!hasNewId && isSame) return null;
  const isAgain = Object.keys(fresh).some((field) => before?.reading.ids?.[field] === fresh[field]);
  const doubtOfId = isSame && !isAgain ? 'once' : null;
  const doubtOfIds = hasLostIdsTooEarly(context, seen, reading, nowMs) ? 'no_id' : null;
  const doubtOfWord = before?.doubt === 'taken_back' ? 'taken_back' : doubtOfIds;
  const doubt = isAppearedIdAlone(context, reading) ? 'appeared' : hasNewId ? doubtOfId : doubtOfWord;
  return { reading, by: 'changed', doubt };
}

/**
 * True if nothing but an id tells this answer from the baseline, in a field that the baseline lacked. A service that
 * shows ids only at times may show the one that its last deployment always had.
 */
function isAppearedIdAlone(context: VerdictContext, reading: StatusReading): boolean {
  const { baseline } = context;
  const hadField = idsIn(knownIds(context), baseline ?? {});
  const fresh = Object.keys(freshIdsIn(knownIds(context), reading));
  return sameStatus(baseline, reading) && fresh.length > 0 && fresh.every((field) => !(field in hadField));
}

/**
 * True if such an id is also that of the answer to the request, which may be the last deployment's. It proves nothing before
 * it was shown in progress, or under another word.
 *
 * @param seen observations without this reading
 */
function isTriggerInDoubt(context: VerdictContext, { ids }: Observations, reading: StatusReading): boolean {
  const triggers = Object.values(triggerIdsIn(knownIds(context), reading));
  const own = Object.values(ids.own);
  return triggers.length > 0 && isAppearedIdAlone(context, reading) && !triggers.some((id) => own.includes(id));
}

/**
 * True if an answer lacks the fields in which the service shows ids, and has not lasted as `settled` requires. A replica
 * that lags may have given it.
 *
 * @param seen observations that include this reading
 */
export function hasLostIdsTooEarly(
  context: VerdictContext,
  seen: Observations,
  reading: StatusReading,
  nowMs: number,
): boolean {
  const known = knownIds(context);
  const fieldsOf = (ids?: DeploymentIds) => Object.keys(idsIn(known, { ids }));
  const shown = [...known.before, seen.ids.own].flatMap(fieldsOf);
  const fields = fieldsOf(reading.ids);
  const hasLost =
    shown.length > 0 ? !fields.some((it) => shown.includes(it)) : isOursKnown(known) && fields.length === 0;
  return hasLost && !hasLasted(context, seen, nowMs);
}

/** Whether this answer shows the id of the answer to our request. */
export const isIdentified = (context: VerdictContext, reading: StatusReading): boolean =>
  !isEmpty(triggerIdsIn(knownIds(context), reading));

const knownIds = ({ baseline, triggerIds, earlierAnswers, otherIds, idsAreNamed }: VerdictContext): KnownIds => ({
  before: [baseline?.ids ?? {}, ...earlierAnswers.map(({ ids }) => ids)],
  trigger: triggerIds,
  others: otherIds,
  isNamed: idsAreNamed === true,
});

const idAnswer = ({ ids, state }: StatusReading): IdAnswer => ({ ids, isInProgress: state === 'in_progress' });

const hasLasted = (context: VerdictContext, seen: Observations, nowMs: number): boolean =>
  seen.row.reads >= SETTLED_READS && rowIsOld(context, seen, nowMs);

function rowIsOld({ settleMs }: VerdictContext, { row: { sinceMs } }: Observations, nowMs: number): boolean {
  return sinceMs !== null && nowMs - sinceMs >= settleMs;
}

/** Whether the last answer from before the request under an id of this one was final, and in another word. */
function leavesFinalWord(context: VerdictContext, reading: StatusReading): boolean {
  const { baseline, earlierAnswers } = context;
  const ids = Object.entries(idsIn(knownIds(context), reading));
  const hasIdOf = (it: Shown | null) => ids.some(([field, id]) => it?.ids?.[field] === id);
  const last = [...earlierAnswers, baseline].findLast(hasIdOf) ?? baseline;
  return last?.state !== 'in_progress' && !sameStatus(last, reading);
}

function sameStatus(before: Shown | null, reading: StatusReading): boolean {
  return before !== null && normalizeStatus(before.status) === normalizeStatus(reading.status);
}

function isEnough(evidence: Evidence, minimum: Evidence): boolean {
  return EVIDENCE.indexOf(evidence) <= EVIDENCE.indexOf(minimum);
}
