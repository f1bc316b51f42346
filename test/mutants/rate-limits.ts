/** Requests that come too soon, or all at once. */
import { type TestedMutant, change, http, integration, sim, unit } from './mutant.ts';

const PACER = 'hosting-api/pacer.ts';
const SHARE = 'worker/share-ceiling.ts';
const JITTER = 'rules/poll-schedule.ts';

export const RATE_LIMITS: TestedMutant[] = [
  {
    rule: 'a read that met a rate limit is a failed read',
    changes: [
      change('rules/read-failures.ts', 'if (!isHeldBack) return null;', 'if (!isHeldBack || nowMs > 0) return null;'),
    ],
    test: unit('read-failures', 'a read that ends with'),
  },
  {
    rule: 'ten reads that met a rate limit end an operation',
    changes: [
      change(
        'rules/poll-state.ts',
        'const againMs = heldBackUntilMs(read, nowMs);',
        'const againMs = heldBackUntilMs({ ...read, ok: true } as typeof read, nowMs);',
      ),
    ],
    test: sim('rules/answers/rate-limits', 'reads answered 429 use no try and never end a run'),
  },
  {
    rule: 'reads that are held back fill the history',
    changes: [change('workflows/polling/poll-until.ts', ' && !hasRoom()', ' && false')],
    test: sim('rules/runs/long-histories', 'an operation whose reads are held back for hours'),
  },
  {
    rule: 'an answer that asks for a pause is ignored',
    changes: [change('hosting-api/pacer.ts', 'error.asksForPause) pacer', "error.kind === 'token') pacer")],
    test: http('pacing', 'nothing is sent until the pause is over'),
  },
  {
    rule: 'a POST waits for its turn longer than its permit lasts',
    changes: [
      change('hosting-api/pacer.ts', 'Math.max(0, (permit?.leftMs() ?? 0) / 2)', 'timeoutMs + 0 * permit!.leftMs()'),
    ],
    test: http('pacing', 'a trigger waits for its turn only as long as its permit allows'),
  },
  {
    rule: 'a pause holds nothing back',
    changes: [change(PACER, 'Math.max(pausedUntilMs, clockMs() + pauseMs)', 'Math.max(pausedUntilMs, -pauseMs)')],
    test: unit('pacer', 'a pause holds every request back for'),
  },
  {
    rule: 'a service may stop a worker for centuries',
    changes: [
      change(
        PACER,
        'Math.min(retryAfterMs ?? limits.defaultPauseMs, limits.maxPauseMs)',
        'retryAfterMs ?? limits.defaultPauseMs',
      ),
    ],
    test: unit('pacer', 'a pause holds every request back for'),
  },
  {
    rule: 'the last pause counts, however short',
    changes: [change(PACER, 'Math.max(pausedUntilMs, clockMs() + pauseMs)', 'clockMs() + pauseMs')],
    test: unit('pacer', 'a shorter pause does not end a longer one'),
  },
  {
    rule: 'all reads come again at the end of a pause',
    changes: [change(PACER, 'random() * limits.spreadMs', '0 * random()')],
    test: unit('pacer', 'a pause holds every request back for'),
  },
  {
    rule: 'requests keep no distance',
    changes: [change(PACER, 'lastMs = Math.max(atMs, lastMs + gapMs);', 'lastMs = -Infinity;')],
    test: unit('pacer', 'property: granted requests keep the share'),
  },
  {
    rule: 'a read loses its place in line',
    changes: [change(PACER, 'if (gapMs > 0) places.set', 'if (gapMs < 0) places.set')],
    test: unit('pacer', 'reads that the ceiling holds back come again in the order in which they came'),
  },
  {
    rule: 'a POST waits behind the reads',
    changes: [change(PACER, '(it.isTrigger ? it.atMs > nowMs : !isTrigger)', 'it.atMs >= 0')],
    test: unit('pacer', 'a trigger goes before the reads that wait'),
  },
  {
    rule: 'each worker has the whole ceiling',
    changes: [change(SHARE, 'const share = ceiling / workers;', 'const share = ceiling;')],
    test: unit('share-ceiling', 'a worker has the whole ceiling until it has counted, then its share'),
  },
  {
    rule: 'a worker that is not listed yet does not count itself',
    changes: [change(SHARE, 'new Set(others).size + 1', 'Math.max(1, new Set(others).size)')],
    test: unit('share-ceiling', 'the ceiling is divided among'),
  },
  {
    rule: 'workers of other services take a share',
    changes: [change(SHARE, 'isServed(worker.service, served)', 'isServed(served.service, served)')],
    test: unit('share-ceiling', 'the ceiling is divided among'),
  },
  {
    rule: 'runs that start together read at the same moments',
    changes: [change(JITTER, 'random() * MAX_SHARE', '0 * random() * MAX_SHARE')],
    test: sim('rules/rollouts/rollouts', 'the runs of a rollout delay their tries'),
  },
  {
    rule: 'the runs of schedules read at the same moments',
    changes: [
      change(
        'workflows/run/run-state.ts',
        'workflowInfo().parent !== undefined',
        "workflowInfo().parent?.workflowId.startsWith('rollout:') === true",
      ),
    ],
    test: integration('rollouts/jitter', 'the runs of schedules delay their tries'),
  },
  {
    rule: 'a single run loses its beat',
    changes: [change(JITTER, 'startsWithOthers ? random()', 'startsWithOthers || MAX_SHARE > 0 ? random()')],
    test: unit('jitter', 'a single run keeps its beat'),
  },
  {
    rule: 'a try is delayed by up to half of the interval',
    changes: [change(JITTER, 'MAX_SHARE = 1 / 5', 'MAX_SHARE = 1 / 2')],
    test: unit('jitter', 'property: every try is delayed by the same time'),
  },
];
