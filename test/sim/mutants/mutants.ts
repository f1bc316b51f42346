/** Rules of locks, waits and requests, each broken on purpose, for the simulator. */
import { MUTANTS as MODEL_MUTANTS } from '../../model/mutants.ts';
import { change, type Mutant } from '../../mutants/mutant.ts';

const SIM_MUTANTS: Mutant[] = [
  {
    rule: 'a run that has sent its request is replaced',
    changes: [change('workflows/operation/deploy-site.ts', '      operation.cancellation.begin();\n', '')],
  },
  {
    rule: 'a run is replaced by one that covers only a part of it',
    changes: [change('features/superseding/rules.ts', 'part.targets.every(', 'part.targets.some(')],
  },
  {
    rule: 'a run goes on whatever people answer',
    changes: [
      change(
        'features/approvals/workflow.ts',
        "return unapproved ?? 'waited';",
        "void unapproved;\n      return 'waited';",
      ),
    ],
  },
  {
    rule: 'a holder signals no waiter',
    changes: [change('workflows/lock/release.ts', 'while (queue.length > 0) {', 'while (queue.length > 1_000) {')],
  },
  {
    rule: 'a holder forgets the rest of its queue',
    changes: [change('workflows/lock/release.ts', 'heir === null ? rest : queue;', '[];')],
  },
  {
    rule: 'the next holder starts without the queue',
    changes: [
      change('workflows/lock/acquire.ts', 'return await wanted.start(inherited);', 'return await wanted.start([]);'),
    ],
  },
  {
    rule: 'a run that waits no longer keeps the queue',
    changes: [
      change('workflows/lock/acquire.ts', 'await forwardRelease({ lockId, waiters: inherited, backup: null });', ''),
    ],
  },
  {
    rule: 'a run waits for a lock fifty times as long',
    changes: [
      change(
        'workflows/lock/acquire.ts',
        'const deadlineMs = Date.now() + wanted.busyTimeoutMs;',
        'const deadlineMs = Date.now() + 50 * wanted.busyTimeoutMs;',
      ),
    ],
  },
  {
    rule: 'tries are not counted',
    changes: [change('rules/poll-state.ts', 'before.made + (isTry ? 1 : 0)', 'before.made')],
  },
  {
    rule: 'a read is made after the last try',
    changes: [change('rules/poll-state.ts', 'made >= plan.tries', 'made > plan.tries')],
  },
  {
    rule: 'hints lead to reads without a pause',
    changes: [
      change(
        'workflows/polling/hints.ts',
        '(pending ? Math.max(nowMs, lastMs + TIMING.poll.hintGapMs) : null)',
        '(pending ? nowMs : null)',
      ),
    ],
  },
  {
    rule: 'the last of a queue is served first',
    changes: [change('workflows/lock/release.ts', '= queue as [', '= queue.toReversed() as [')],
  },
  {
    rule: 'reads are counted twice',
    changes: [change('workflows/polling/poll-until.ts', 'result.polls += 1;', 'result.polls += 2;')],
  },
  {
    rule: 'a replay takes another path',
    changes: [
      change(
        'workflows/polling/poll-until.ts',
        'const tries = Math.max(planned, 1);',
        'const tries = Math.max(planned, 1) + (workflowInfo().unsafe.isReplaying ? 1 : 0);',
      ),
    ],
  },
  {
    rule: 'a pooled wait keeps every status',
    changes: [change('rules/poll-state.ts', "read.state !== 'in_progress' || ", '')],
  },
  {
    rule: 'a wait enters the pool before its status is in progress',
    changes: [
      change(
        'workflows/polling/poll-until.ts',
        "last?.ok === true && last.state === 'in_progress';",
        "last === null || (last.ok && last.state !== 'failed');",
      ),
    ],
  },
  {
    rule: 'a pooled wait begins again with each worker',
    changes: [change('activities/pooled-wait.ts', 'handedOver ?? wait.progress', 'wait.progress')],
  },
  {
    rule: 'a hint waits for the pool',
    changes: [
      change(
        'workflows/polling/poll-until.ts',
        'const hintMs = hints.readableAtMs(nowMs);',
        "const hintMs = summary.includes('hint') && hints.pending ? Infinity : hints.readableAtMs(nowMs);",
      ),
    ],
  },
  {
    rule: 'Temporal sends a request again',
    changes: [
      change(
        'workflows/activity-proxies.ts',
        'heartbeatTimeout: post.heartbeatTimeoutMs,\n  retry: ONCE,',
        'heartbeatTimeout: post.heartbeatTimeoutMs,\n  retry: { maximumAttempts: 2 },',
      ),
    ],
  },
  {
    rule: 'the status is not read while the service asks to wait',
    changes: [
      change(
        'workflows/operation/trace.ts',
        'const endsMs = Math.max(Math.max(nowMs, overMs) + settleMs, notBeforeMs);',
        'const endsMs = Math.max(nowMs, overMs) + settleMs;',
      ),
    ],
  },
  {
    rule: 'freezes are judged only at the start',
    changes: [change('activities/features.ts', '[freezePermit, approvalPermit]', '[approvalPermit]')],
  },
  {
    rule: 'an override lets off every ad-hoc freeze',
    changes: [change('features/freezes/worker.ts', "freeze.override !== 'never' &&", 'letOff.length > 0 ||')],
  },
  {
    rule: 'one good read of a site is enough',
    changes: [change('features/site-checks/rules.ts', 'seen.goodInARow >= aim.inARow', 'seen.goodInARow >= 1')],
  },
  {
    rule: 'a site that shows the commit of before passes',
    changes: [change('features/site-checks/rules.ts', "return 'old';", "return 'good';")],
  },
];

/** All that the simulator should notice. */
export const MUTANTS: readonly Mutant[] = [...MODEL_MUTANTS, ...SIM_MUTANTS];
