/** Runs that one bad worker, or a bad hour of the service, may spoil. */
import { type TestedMutant, change, http, integration, sim, unit } from './mutant.ts';

const REST_IN_READS = 'activities/read-status.ts';

/** As it was before workers rested. */
const ALONE = [
  change(
    'workflows/polling/status-reader.ts',
    'if (first.ok || first.ofThisWorker === undefined || secondReads === HISTORY_BUDGET.maxSecondReads)',
    'if (first !== null)',
  ),
  change('worker/probe-service.ts', 'if (current !== null || ended.aborted) return;', "if (reason !== '') return;"),
];

export const BAD_WORKER: TestedMutant[] = [
  {
    rule: 'a worker without egress spoils the runs that it reads for',
    changes: ALONE,
    test: integration('workers/unfit-workers', 'one without egress spoils none of six runs'),
  },
  {
    rule: 'a worker with a stale token spoils the runs that it reads for',
    changes: ALONE,
    test: integration('workers/unfit-workers', 'one with a stale token spoils none of six runs'),
  },
  {
    rule: 'a read that failed because of its worker counts',
    changes: [
      change(
        'workflows/polling/status-reader.ts',
        'if (first.ok || first.ofThisWorker === undefined || secondReads === HISTORY_BUDGET.maxSecondReads)',
        "if (first.ok || first.kind !== 'protocol')",
      ),
    ],
    test: integration('runs/unfit-reader', 'a read that its worker cannot make is made by another worker'),
  },
  {
    rule: 'a read without a connection says nothing about its worker',
    changes: [change(REST_IN_READS, 'if (isOfThisWorker(error)) rest.begin', 'if (error === null) rest.begin')],
    test: http('activities', 'lets its worker rest, and another one may do better'),
  },
  {
    rule: 'a resting worker takes activities',
    changes: [
      change('worker/slots.ts', 'await Promise.race([gate.whenOpen(signal), aborted])', 'signal.throwIfAborted()'),
      change('worker/slots.ts', 'if (!gate.isOpen()) continue;', ''),
    ],
    test: unit('worker-rest', 'a resting worker asks for no activity until its rest is over'),
  },
  {
    rule: 'a resting worker sends the requests that it was given before',
    changes: [
      change('activities/post-checks.ts', 'if (!(await rest.isOver())) throw', "if (rest.reason === '') throw"),
    ],
    test: http('activities', 'a resting worker leaves its triggers, and the reads of others, to others'),
  },
  {
    rule: 'a resting worker makes the reads that it was given before',
    changes: [change(REST_IN_READS, 'input.unlessResting === true && !(await rest.isOver())', "rest.reason === ''")],
    test: http('activities', 'a resting worker leaves its triggers, and the reads of others, to others'),
  },
  {
    rule: 'one 401 or 403 ends a request',
    changes: [change('rules/trigger-policy.ts', 'counts.unauthorized > 1', 'counts.unauthorized > 0')],
    test: unit('trigger-policy', 'a trigger answered 401 or 403 is sent once more at once'),
  },
  {
    rule: 'a 401 is the last word about a request',
    changes: [change('rules/trigger-policy.ts', 'httpStatus === 401 || httpStatus === 403', 'httpStatus === -1')],
    test: sim('rules/answers/post-ends', 'is made once more and deploys once'),
  },
  {
    rule: 'a worker sends a request again that was refused to it',
    changes: [
      change(
        'activities/post-checks.ts',
        'if (!(await refused.isForOthers(idempotencyKey))) return;',
        "if (idempotencyKey !== '') return;",
      ),
    ],
    test: http('activities', 'a trigger that was refused to a worker is left to others'),
  },
  {
    rule: 'an activity for another worker goes back to the one that scheduled it',
    changes: [change('workflows/activity-proxies.ts', 'allowEagerDispatch: false', 'allowEagerDispatch: true')],
    test: integration('workers/unfit-workers', 'a POST that is refused to one worker is made by another'),
  },
  {
    rule: 'a POST goes back to the worker that scheduled it',
    changes: [
      change(
        'workflows/activity-proxies.ts',
        '...ANY_WORKER,\n  scheduleToStartTimeout: post.takenWithinMs',
        'scheduleToStartTimeout: post.takenWithinMs',
      ),
    ],
    test: unit('eager-dispatch', 'an activity that may be meant for another worker never goes back'),
  },
  {
    rule: 'a 503 with Retry-After is ambiguous',
    changes: [change('hosting-api/errors.ts', '(this.httpStatus === 503 && this.retryAfterMs !== null)', 'false')],
    test: http('activities', 'a trigger that ends with'),
  },
  {
    rule: 'a proxy is asked for port 80 of every service',
    changes: [
      change('hosting-api/exchange.ts', 'this.defaultPort = defaultPortOf(this.protocol);', 'this.defaultPort = 80;'),
    ],
    test: http('proxy', 'the proxy is asked for a tunnel to the port of'),
  },
  {
    rule: 'a 404 while waiting uses up a try',
    changes: [
      change(
        'workflows/operation/await-verdict.ts',
        'acceptsNoDeployment: result.trigger.attempts === 0',
        'acceptsNoDeployment: true',
      ),
    ],
    test: sim('rules/answers/reads', 'a site deleted during the wait for its deployment ends it unknown'),
  },
  {
    rule: 'an operation that Temporal ended by a timeout is a defect',
    changes: [change('workflows/children.ts', 'if (cause instanceof TimeoutFailure) {', 'if (cause === null) {')],
    test: unit('child-result', 'an operation that Temporal ended by a timeout is unknown'),
  },
];
