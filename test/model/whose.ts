/**
 * What the answers of a service cannot tell: then a verdict may be about another deployment. Everything else has to be
 * right. docs/explanation/verdicts.md has a row for each. Pure.
 */
import type { DeploymentResult } from '../../src/contract/run.ts';
import type { AnswersDraw } from './answer-draws.ts';
import { allowance, deployKey, msOf, ofKey, planFor, readsOf, type Facts, type Read } from './facts.ts';
import type { PlayedRun } from './record.ts';

export const answersTo = ({ played }: Facts, target: string): AnswersDraw | undefined =>
  played.answers?.find((it) => it.target === target);

export const namesDeployments = ({ latest = {} }: AnswersDraw): boolean => Object.values(latest).includes('own');

/** @param span from the start of the operation to its end */
export function cannotTell(
  facts: Facts,
  run: PlayedRun,
  { target: { id: target }, trigger }: DeploymentResult,
  how: AnswersDraw,
  [fromMs, toMs]: readonly [number, number],
): boolean {
  const key = deployKey(run, target);
  const ours = ofKey(facts.effects, key).at(-1);
  const sent = facts.triggers.find(({ idempotencyKey }) => idempotencyKey === key);
  // A request in doubt may have begun nothing, or may have been lost with its worker.
  if (ours === undefined && sent === undefined && !trigger.ambiguous) return false;
  const beganMs = ours?.startedMs ?? (sent === undefined ? fromMs : msOf(sent.at));
  const behindMs = how.replica?.lagMs ?? 0;
  // Longer than the settle time.
  if ((ours?.lagMs ?? 0) + behindMs > planFor(run).deploy.settleMs) return true;
  if (!namesDeployments(how)) return behindMs > 0 || hasForeign(facts, key, target, [fromMs, toMs]);
  const isOther = isAboutAnother(facts, target, ours?.id ?? null, beganMs);
  const reads = readsOf(facts, target, beganMs, toMs);
  const knowsId = how.trigger === 'own' && !trigger.ambiguous;
  // A push that is shown before ours; or, without the trigger's id, any other deployment, such as that of a stale baseline.
  if (!knowsId) return reads.some(isOther);
  // Another run may have made the first reads that show ours, or a worker lost their answers with its stop.
  const allowed = allowance(facts, run, target, beganMs, toMs);
  const shown = reads.flatMap(({ entry }, index) => (entry.shows === ours?.id ? [index] : [])).at(allowed);
  // Until ours is shown, a push may be taken for it: one in progress at once, and the final word of one once it has lasted.
  return reads.slice(0, shown).some((read) => isOther(read) && (shown === undefined || read.state === 'in_progress'));
}

function hasForeign({ effects }: Facts, key: string, target: string, [fromMs, toMs]: readonly [number, number]) {
  const others = effects.filter((it) => it.kind === 'deployment' && it.target === target && it.key !== key);
  return others.some(({ shownMs, startedMs }) => shownMs >= fromMs && startedMs <= toMs);
}

/** Whether a read shows neither our deployment nor that of the last read before it. */
function isAboutAnother(facts: Facts, target: string, ownId: string | null, beganMs: number): (read: Read) => boolean {
  // A replica that lags may still answer that there was no deployment, after another one has shown one.
  const isAnswer = ({ maybe, entry }: Read) => maybe || (entry.answered === 404 && entry.fault === null);
  const baseline = readsOf(facts, target, 0, beganMs).findLast(isAnswer)?.entry.shows ?? null;
  return ({ entry: { shows } }) => shows !== null && shows !== ownId && shows !== baseline;
}
