/** I5 and I6: nothing is requested in a freeze, and nothing completes without the check that its site has. Pure. */
import type { DeploymentResult } from '../../src/contract/run.ts';
import { isFreezeId } from '../../src/contract/ids.ts';
import type { JournalEntry } from '../../src/sandbox/state.ts';
import { cite, deployKey, isBackupOf, msOf, namesOf, type Facts } from './facts.ts';
import { CHECK } from './gate-draws.ts';
import type { PlayedFreeze, PlayedRun } from './record.ts';

/** Between the look for freezes and the request at the service. */
const UNDER_WAY_MS = 6_000;

export function judgeGates(facts: Facts): string[] {
  return facts.played.runs.flatMap((run) => [...inFreezes(facts, run), ...uncheckedIn(facts, run)]);
}

function inFreezes({ played: { freezes = [] }, triggers }: Facts, run: PlayedRun): string[] {
  return triggers.flatMap((entry) =>
    freezes
      .filter((it) => holdsBack(it, run, entry) && !isLetOff(it, run))
      .filter(({ fromMs, toMs }) => msOf(entry.at) >= fromMs + UNDER_WAY_MS && msOf(entry.at) < toMs)
      .map(({ name }) => `I5: ${run.workflowId} sent ${cite(entry)} in the freeze ${name}`),
  );
}

/** Whether a freeze is for this request, if the run sent it. */
export function holdsBack({ target, backups }: PlayedFreeze, run: PlayedRun, entry: JournalEntry): boolean {
  const key = entry.idempotencyKey ?? '';
  if (isBackupOf(run, key)) return backups && target === run.input.serverId;
  const deployed = namesOf(run).find((name) => deployKey(run, name) === key);
  return deployed !== undefined && [deployed, run.input.serverId].includes(target);
}

/** A freeze that a person set later under the same name is another one. One of belay.yaml is known by its name alone. */
export const isLetOff = ({ name, fromMs, override }: PlayedFreeze, run: PlayedRun): boolean =>
  override === 'reason' &&
  run.input.override?.freezes.includes(name) === true &&
  (!isFreezeId(name) || fromMs <= decidedMs(name, run));

const decidedMs = (name: string, { closedMs, result }: PlayedRun): number => {
  const held = result?.held?.find((it) => it.name === name);
  return held === undefined ? (closedMs ?? Infinity) : msOf(held.from);
};

function uncheckedIn(facts: Facts, run: PlayedRun): string[] {
  const { checked = [], journal } = facts.played;
  if (run.type === 'watchDeployment' || run.input.noCheck !== undefined) return [];
  const completed = (run.result?.deployments ?? []).filter(({ outcome }) => outcome === 'completed');
  return completed
    .filter(({ target }) => target.kind === 'site' && checked.includes(target.id))
    .filter((it) => it.check?.outcome !== 'passed' || goodVisits(journal, it) < CHECK.inARow)
    .map(({ target: { id } }) => `I6: ${run.workflowId} completed ${id} without as many good reads as its check needs`);
}

const goodVisits = (journal: readonly JournalEntry[], { target: { id }, acceptedAt }: DeploymentResult): number =>
  journal.filter(
    ({ by, request, at, answered, fault }) =>
      by === 'visitor' &&
      request.startsWith(`GET /sites/${id}/`) &&
      msOf(at) >= msOf(acceptedAt) &&
      // A fault may still give the true page, or one that shows no commit where none is expected.
      (answered === 200 || fault === 'body'),
  ).length;
