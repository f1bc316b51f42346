/** Requests that are sent too late or once more, and locks that are passed on too late. */
import { type TestedMutant, change, http, integration, sim, unit } from './mutant.ts';

const CHECKS = 'activities/post-checks.ts';
const DEADLINE = 'rules/deadline.ts';

export const RIGHT_TIME: TestedMutant[] = [
  {
    rule: 'a read counts from when the workflow hears of it',
    changes: [change('rules/poll-state.ts', 'Math.min(read.answeredMs ?? nowMs, nowMs)', 'read.ok ? nowMs : nowMs')],
    test: sim('rules/answers/stale-reads', 'waits for a new baseline, so that no push in between counts'),
  },
  {
    rule: 'an event wakes a run whose operation polls',
    changes: [change('features/events/client-signals.ts', 'handle, services, pollsItself)', 'handle, services)')],
    test: sim('rules/events/wakes', 'wakes the operation of a run, and not the run'),
  },
  {
    rule: 'a release that comes too late is not forwarded',
    changes: [change('workflows/lock/acquire.ts', 'if (late !== null) await forwardLate(late);', 'void late;')],
    test: sim('rules/locks/lock-faults', 'waiters that a run learns of as it acquires a lock join the queue'),
  },
  {
    rule: 'a request is sent however old the reads are that it rests on',
    changes: [
      change('activities/post-checks.ts', 'checkReset, checkReads, checkInventory', 'checkReset, checkInventory'),
    ],
    test: sim('rules/answers/stale-reads', 'waits for a new baseline, so that no push in between counts'),
  },
  {
    rule: 'a run that is too late waits for the lock',
    changes: [
      change('workflows/run/run-workflows.ts', 'whyTooLate(deadline, Date.now())', 'whyTooLate(null, Date.now())'),
    ],
    test: sim('rules/runs/deadlines', 'a run that is too late does not wait for the lock'),
  },
  {
    rule: 'the deadline is not checked before a request',
    changes: [
      change(
        'workflows/operation/deploy-site.ts',
        'const late = whyTooLate(input.deadline, Date.now());',
        'const late = whyTooLate(null, Date.now());',
      ),
    ],
    test: sim('rules/runs/deadlines', 'is not sent if the deadline passes'),
  },
  {
    rule: 'an operation that was parked keeps its baseline',
    changes: [
      change(
        'workflows/operation/deploy-site.ts',
        'if (baseline === undefined || counts.ambiguous === 0) {',
        'if (baseline === undefined) {',
      ),
    ],
    test: sim('rules/answers/outages', 'is sent once afterwards, with a new baseline'),
  },
  {
    rule: 'an ambiguous request is sent again after an outage',
    changes: [
      change(
        'workflows/operation/trace.ts',
        '(sent.coverage = recordOutage(sent.coverage))',
        'void recordOutage(sent.coverage)',
      ),
    ],
    test: integration('runs/outages', 'an ambiguous request is not sent again after an outage'),
  },
  {
    rule: 'a parked operation is never too late',
    changes: [
      change('workflows/operation/deploy-site.ts', '(operation.parking.current !== null && late() !== null)', 'false'),
    ],
    test: sim('rules/answers/outages', 'a parked run that becomes too late for its request ends not started'),
  },
  {
    rule: 'a backup may be of any age',
    changes: [change(DEADLINE, 'if (backupBeganMs !== null) {', 'if (backupBeganMs === -1) {')],
    test: sim('rules/runs/deadlines', 'a run whose worker was away too long after its backup'),
  },
  {
    rule: 'the age of a backup counts from when the run first saw it',
    changes: [
      change('workflows/run/backup-step.ts', 'startedAt === null ? firstReadMs', "startedAt !== '' ? firstReadMs"),
    ],
    test: sim('rules/runs/backup-age', 'counts from when the backup began if a run shares it'),
  },
  {
    rule: 'a run may start its deployments at any time',
    changes: [change(DEADLINE, 'if (startDeploysWithinMs !== null) {', 'if (startDeploysWithinMs === -1) {')],
    test: unit('deadline', 'the earliest limit is the deadline'),
  },
  {
    rule: 'the time of day until which a run may deploy is ignored',
    changes: [change(DEADLINE, 'if (until !== null) all', 'if (until?.atMs === -1) all')],
    test: unit('deadline', 'the earliest limit is the deadline'),
  },
  {
    rule: 'a request waits for a worker as long as it takes',
    changes: [change('workflows/activity-proxies.ts', 'scheduleToStartTimeout: post.takenWithinMs', "summary: ''")],
    test: integration('workers/stalled-workers', 'is sent again instead of late if no worker is available in time'),
  },
  {
    rule: 'a worker that was stopped sends its request afterwards',
    changes: [change(CHECKS, 'if (askedAfterMs === null)', 'if (askedAfterMs === -1)')],
    test: integration('workers/stalled-workers', 'stalls before sending it'),
  },
  {
    rule: 'the answer of Temporal to the question before a request is ignored',
    changes: [change(CHECKS, 'if (askedAfterMs === null)', 'if (askedAfterMs === -1)')],
    test: http('activities', 'a trigger that Temporal no longer waits for is not sent'),
  },
  {
    rule: 'a request is sent however old it is',
    changes: [change(CHECKS, 'permitMs, sentWithinMs - askedAfterMs, leftMs', 'permitMs, sentWithinMs, leftMs')],
    test: sim('rules/answers/late-posts', 'a POST that a worker takes and keeps for five seconds is not sent late'),
  },
  {
    rule: 'a request is sent although Temporal cannot be asked',
    changes: [
      change(
        CHECKS,
        "throw triggerFailure('Resting', `not sent: Temporal could not be asked first (${plainText(messageOf(error))})`)",
        "return reason !== ''",
      ),
    ],
    test: http('activities', 'a trigger is left to the next attempt if Temporal cannot be asked'),
  },
  {
    rule: 'the clock of the worker decides whether a request is late',
    changes: [
      change(
        CHECKS,
        'const sinceAskedMs = startStopwatch',
        'if (Math.abs(Date.now() - activityInfo().currentAttemptScheduledTimestampMs) > 3_000)\n' +
          "    throw triggerFailure('NotSent', 'late');\n  const sinceAskedMs = startStopwatch",
      ),
    ],
    test: http('activities', 'a trigger is sent by a worker whose clock is'),
  },
  {
    rule: 'the permit counts on the wall clock only',
    changes: [
      change(
        'activities/stopwatch.ts',
        'Math.max(clocks.wallMs() - wallMs, clocks.monotonicMs() - monotonicMs)',
        '(clocks.wallMs() - wallMs)',
      ),
    ],
    test: http('activities', 'the permit of a trigger is over if the worker was'),
  },
  {
    rule: 'the permit counts on the monotonic clock only',
    changes: [
      change(
        'activities/stopwatch.ts',
        'Math.max(clocks.wallMs() - wallMs, clocks.monotonicMs() - monotonicMs)',
        '(clocks.monotonicMs() - monotonicMs)',
      ),
    ],
    test: http('activities', 'the permit of a trigger is over if the worker was'),
  },
  {
    rule: 'a request is sent after its permit ended',
    changes: [change('hosting-api/exchange.ts', 'permit !== undefined && permit.leftMs() <= 0', 'permit === null')],
    test: http('service-client', 'a request whose permit ends while it connects'),
  },
  {
    rule: 'heartbeats leave as rarely as the SDK likes, and a late one is the end of a POST',
    changes: [
      change('worker/settings.ts', 'maxHeartbeatThrottleInterval: TIMING.post.heartbeatMs,', ''),
      change('contract/timing.ts', 'heartbeatTimeoutMs: 6 * SECOND', 'heartbeatTimeoutMs: 5 * SECOND'),
    ],
    test: integration('workers/stalled-workers', 'is not ambiguous if its worker stalls for a moment'),
  },
  {
    rule: 'a request is sent in any epoch',
    changes: [change(CHECKS, "if (problem !== null) throw triggerFailure('Restored', problem);", 'void problem;')],
    test: integration('services/restores', 'what is restored to a moment before its requests'),
  },
  {
    rule: 'a request that was not sent is certain for ever',
    changes: [change('rules/trigger-policy.ts', '|| passedMs <= TIMING.post.certainMs)', '|| passedMs >= 0)')],
    test: unit('certainty', 'a request that was not sent is certainly without effect for 15 minutes'),
  },
  {
    rule: 'a schedule goes by the time at which its workflow starts',
    changes: [
      change('features/schedules/workflow.ts', 'typedSearchAttributes.get(FIRED_AT) ?? startTime', 'startTime'),
    ],
    test: integration(
      'schedules/wrong-inputs',
      'a firing for a time that is long past starts nothing, although Temporal fires it now',
    ),
  },
];
