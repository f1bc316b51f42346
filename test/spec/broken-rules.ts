/** Breaks the rules of the modules in docs/spec, one at a time: for each invariant, a module that violates it. */
import type { Change } from '../mutants/mutant.ts';
import { DEPLOYMENT, SERVER_LOCK, SITE_LOCK, SITE_LOCK_CALM, SLOW_SERVICE, type Simulation } from './simulations.ts';

export interface BrokenRule {
  rule: string;
  simulation: Simulation;
  invariant: string;
  change: Change;
}

const broken =
  (simulation: Simulation) =>
  (invariant: string, rule: string, from: string, to: string): BrokenRule => ({
    simulation,
    invariant,
    rule,
    change: { file: simulation.file, from, to },
  });

const deployment = broken(DEPLOYMENT);
const slowService = broken(SLOW_SERVICE);
const siteLock = broken(SITE_LOCK);
const calmLock = broken(SITE_LOCK_CALM);
const serverLock = broken(SERVER_LOCK);

export const BROKEN_RULES: readonly BrokenRule[] = [
  deployment('deploysOnce', 'a trace is looked for as long as it may lag', 'val SETTLE = 2', 'val SETTLE = 1'),
  deployment('deploysOnce', 'nothing is sent again after a gap', 'else if (blind)', 'else if (false)'),
  deployment('watchedUntilRequest', 'the fence', '| Ready => pause == 0', '| Ready => false'),
  deployment(
    'waitsForOthers',
    'the baseline waits for other deployments',
    '    inProgress == Set(),\n    base',
    '    base',
  ),
  deployment('noThirdInDoubt', 'two requests in doubt end it', 'if (ambiguous > 1 or', 'if (ambiguous > 2 or'),
  deployment('noneAfterRefusal', 'a refusal in doubt ends it', 'ambiguous > 1 or refused', 'ambiguous > 1'),
  deployment('requestsEnd', 'requests without effect are limited', 'noEffect + 1 >= MAX_NO_EFFECT', 'noEffect > 6'),
  slowService(
    'notStartedIsTrue',
    'too late after a request in doubt is unknown',
    'tooLate,\n    close(r, if (ambiguous == 0) NotStarted else Unknown)',
    'tooLate,\n    close(r, NotStarted)',
  ),
  slowService(
    'notStartedIsTrue',
    'turned away after a request in doubt is unknown',
    'if (isSpent) all { close(r, if (ambiguous == 0) NotStarted else Unknown)',
    'if (isSpent) all { close(r, NotStarted)',
  ),
  slowService(
    'notStartedIsTrue',
    'cancelled after a request is not "not started"',
    'if (phase.get(r) == Baseline and ambiguous == 0) NotStarted',
    'if (phase.get(r) != Verdict) NotStarted',
  ),
  deployment('keepsDeadline', 'no request follows the deadline', '    not(tooLate),\n    requests', '    requests'),

  siteLock('oneOperation', 'Temporal runs one operation per id', '    holder == NONE,\n    moveTo', '    moveTo'),
  siteLock(
    'noneStuck',
    'a waiter joins the queue',
    '.union(inherited.get(r)).union(Set(r))',
    '.union(inherited.get(r))',
  ),
  siteLock('noneLost', 'a run closes once it has handled every signal', 'not(mail.get(r).isHere), moveTo', 'moveTo'),
  calmLock(
    'noneForgotten',
    'a waiter that leaves forwards what it inherited',
    "mail' = forwarded(mail, r, inherited.get(r), NONE)",
    "mail' = mail",
  ),
  calmLock('noneForgotten', 'a release carries the rest of the queue', '.joinTo(heir, behind)', ''),
  calmLock(
    'noneForgotten',
    'a run forwards a release that comes late',
    'else forwarded(mail.set(r, NO_MAIL), r, it.waiters, it.backup),\n      phase',
    'else mail.set(r, NO_MAIL),\n      phase',
  ),
  calmLock(
    'noneForgotten',
    'the holder forwards waiters that came during its signal',
    'isReleasing, queue == Set(),\n    leave',
    'isReleasing, signalled != NONE or queue == Set(),\n    leave',
  ),
  calmLock(
    'noneForgotten',
    'the next holder gets the waiters that its run inherited',
    "queue' = inherited.get(r), inherited'",
    "queue' = Set(), inherited'",
  ),
  serverLock(
    'deploysOnComplete',
    'a run believes no release that offers a backup',
    "deploys' = deploys,\n      queue' = queue, sameHolder } }",
    "deploys' = if (isShared) deploys.union(Set(r)) else deploys,\n      queue' = queue, sameHolder } }",
  ),
  serverLock(
    'deploysOnComplete',
    'a failed backup fails every run that shares it',
    'if (state == Complete) deploys',
    'if (state != Going) deploys',
  ),
  serverLock(
    'outlivesRun',
    'a cancelled run leaves its backup running',
    "cancelled' = cancelled.union(Set(r)),\n    sameHolder,",
    "cancelled' = cancelled.union(Set(r)),\n    holder' = NONE, operations' = operations.exclude(Set(r)), isReleasing' = isReleasing,\n" +
      "    last' = last, conclusion' = conclusion, signalled' = signalled, taken' = taken, closed' = closed,",
  ),
];
