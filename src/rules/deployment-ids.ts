/**
 * Tells by ids whether an answer of the latest-deployment endpoint can be about our deployment. The bodies are not
 * documented, and a field that looks like an id may be that of a site or job, so ids are compared field by field. Pure.
 */
import type { DeploymentIds } from '../contract/activities.ts';

/** What is known before the first read. */
export interface KnownIds {
  baseline: DeploymentIds;
  /** Those in the trigger's answer. */
  trigger: DeploymentIds;
  /** The ids of the target and its server. They mark no deployment. */
  others: readonly string[];
}

/** What reads have shown since the trigger. */
export interface SeenIds {
  /** Our id, by the fields of the latest answer that show it. Empty while it is unknown. */
  own: DeploymentIds;
  /** Whether that is the trigger's, which then stays ours. */
  isTriggers: boolean;
  /** The fields that have shown another id than in the baseline, so they are no constants. */
  moved: readonly string[];
}

export const NO_IDS_SEEN: SeenIds = { own: {}, isTriggers: false, moved: [] };

/**
 * What the ids of an answer say. `open`: it may be about our deployment. `kept`: it may be, and a field keeps the
 * baseline's id, as a constant or a replica that lags. `third`: it may be, if the trigger's id is not a deployment's.
 * `before`: it shows the baseline's id, and `another`: another one than ours.
 */
export type Standing = 'open' | 'kept' | 'third' | 'before' | 'another';

export interface IdAnswer {
  ids?: DeploymentIds | undefined;
  isInProgress: boolean;
}

export function noteIds(known: KnownIds, seen: SeenIds, answer: IdAnswer): SeenIds {
  const ids = idsIn(known, answer);
  const { baseline } = known;
  const moved = Object.keys(ids).filter((field) => field in baseline && baseline[field] !== ids[field]);
  const before = { ...seen, moved: [...new Set([...seen.moved, ...moved])] };
  const triggers = triggerIdsIn(known, answer);
  if (!isEmpty(triggers)) return { ...before, own: triggers, isTriggers: true };
  const fresh = freshIdsIn(known, answer);
  const mayBeOurs = answer.isInProgress && !isEmpty(fresh) && !seen.isTriggers;
  return mayBeOurs ? { ...before, own: fresh } : before;
}

/**
 * @param seen ids that include those of this answer
 * @param hasLeft whether the status left the baseline's final word while a field kept the baseline's id
 */
export function standingOf(known: KnownIds, seen: SeenIds, answer: IdAnswer, hasLeft: boolean): Standing {
  const ids = idsIn(known, answer);
  const compared = Object.keys(ids).filter((field) => field in seen.own);
  if (!isEmpty(triggerIdsIn(known, answer)) || compared.some((field) => ids[field] === seen.own[field])) return 'open';
  if (compared.length > 0) return 'another';
  const kept = Object.keys(ids).filter((field) => known.baseline[field] === ids[field]);
  if (kept.length > 0) return hasLeft && !kept.some((field) => seen.moved.includes(field)) ? 'kept' : 'before';
  const awaitsTriggers = !seen.isTriggers && newTriggerIds(known).length > 0;
  return awaitsTriggers && !answer.isInProgress && !isEmpty(ids) ? 'third' : 'open';
}

/** The ids that the trigger's answer shares with this one, and that the baseline lacked. In any field. */
export function triggerIdsIn(known: KnownIds, answer: Pick<IdAnswer, 'ids'>): DeploymentIds {
  const triggered = newTriggerIds(known);
  return only(idsIn(known, answer), (id) => triggered.includes(id));
}

/** The ids in the answer that the baseline lacked. */
export function freshIdsIn(known: KnownIds, answer: Pick<IdAnswer, 'ids'>): DeploymentIds {
  const old = Object.values(known.baseline);
  return only(idsIn(known, answer), (id) => !old.includes(id));
}

export const isEmpty = (ids: DeploymentIds): boolean => Object.keys(ids).length === 0;

function newTriggerIds({ baseline, trigger, others }: KnownIds): string[] {
  const known = [...Object.values(baseline), ...others];
  return Object.values(trigger).filter((id) => !known.includes(id));
}

const idsIn = ({ others }: KnownIds, { ids = {} }: Pick<IdAnswer, 'ids'>): DeploymentIds =>
  only(ids, (id) => !others.includes(id));

const only = (ids: DeploymentIds, isMeant: (id: string) => boolean): DeploymentIds =>
  Object.fromEntries(Object.entries(ids).filter(([, id]) => isMeant(id)));
