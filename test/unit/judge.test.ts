import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { siteTarget } from '../../src/contract/target.ts';
import type { Outcome } from '../../src/contract/names.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { NOTHING_ELSE, type JournalEntry } from '../../src/sandbox/state.ts';
import { judge } from '../model/judge.ts';
import type { Played, PlayedFreeze, PlayedRun } from '../model/record.ts';

const ZERO_MS = Date.parse('2026-01-01T00:00:00Z');
const at = (ms: number) => new Date(ZERO_MS + ms).toISOString();
const PACE = { intervalMs: 200, tries: 20 };
const SITE = 'x0-a1';
const LATEST = `GET /v1/sites/${SITE}/deployments/latest`;
const DEPLOY = `POST /v1/sites/${SITE}/deploy`;

const entry = (ms: number, request: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ at: at(ms), by: 'api', request },
  ...{ ...NOTHING_ELSE, answered: 200 },
  ...more,
});

const read = (ms: number, said: string) => entry(ms, LATEST, { said });
const post = (ms: number, id: string, runId = 'run', more: Partial<JournalEntry> = {}) =>
  entry(ms, DEPLOY, {
    idempotencyKey: `${runId}:deploy-site:${SITE}`,
    began: { id, kind: 'deployment', target: SITE },
    ...more,
  });

/** A run that deploys the site from 0 to 1 s by default. */
function run(outcome: Outcome, more: { runId?: string; input?: Partial<RunInput>; endMs?: number } = {}): PlayedRun {
  const { runId = 'run', endMs = 1_000 } = more;
  const trigger = { attempts: 1, ambiguous: false, reconciledBy: null };
  const times = { startedAt: at(0), endedAt: at(endMs) };
  const seenAt = { acceptedAt: null, inProgressAt: null };
  const evidence = outcome === 'completed' || outcome === 'failed' ? ('transition' as const) : null;
  const last = { lastStatus: outcome === 'timed_out' ? 'deploying' : 'completed', polls: 3 };
  return {
    ...{ type: 'deployOnly', workflowId: `deploy:${SITE}:${runId}`, runId, startedMs: ZERO_MS, cancelledMs: null },
    input: { siteIds: [SITE], deploy: PACE, ...more.input },
    closedMs: ZERO_MS + endMs + 10,
    waitsEnded: [],
    result: {
      ...{ schemaVersion: 1, workflowId: `deploy:${SITE}:${runId}`, runId, service: null, phase: 'done', backup: null },
      ...{ attached: false },
      ...{
        outcome,
        error: null,
        supersededBy: null,
        commit: null,
        commitSeen: null,
        held: [],
        meta: null,
        links: { ui: null },
        ...times,
      },
      deployments: [
        {
          target: siteTarget(SITE),
          siteId: SITE,
          outcome,
          evidence,
          ...last,
          trigger,
          ...times,
          ...seenAt,
          verdictAt: null,
          check: null,
          error: null,
        },
      ],
    },
  };
}

/** The journal of a deployment that takes 500 ms and completes. */
const JOURNAL = [read(10, 'failed'), post(20, '1'), read(220, 'deploying'), read(620, 'completed')];

const verdict = (played: Partial<Played>) => {
  const scripts = { [SITE]: [{ durationMs: 500, ends: 'completed' }] };
  return judge({ scripts, journal: JOURNAL, runs: [run('completed')], operations: [], deeds: [], ...played });
};

function broken(played: Partial<Played>, expected: RegExp): void {
  const { violations } = verdict(played);
  assert.equal(violations.length > 0, true, 'no violation was found');
  assert.match(violations.join('\n'), expected);
}

/** Reads between two times that show no trace. */
const silence = (fromMs: number, toMs: number) =>
  Array.from({ length: (toMs - fromMs) / 200 }, (_, index) => read(fromMs + index * 200, 'failed'));
const AMBIGUOUS = { answered: null, fault: 'reset' };
const again = (ms: number, between: JournalEntry[]): Partial<Played> => ({
  scripts: { [SITE]: [{ durationMs: 100, ends: 'failed' }, { durationMs: 500 }] },
  journal: [
    read(10, 'failed'),
    post(20, '1', 'run', AMBIGUOUS),
    ...between,
    post(ms, '2'),
    read(ms + 200, 'deploying'),
  ].concat(read(ms + 600, 'completed')),
  runs: [run('completed', { endMs: ms + 700 })],
});

describe('the judge', () => {
  test('finds no violation in a correct run', () => {
    assert.deepEqual(verdict({}), { violations: [], apart: [] });
  });
  test('detects a run that never closes', () => {
    broken({ runs: [{ ...run('completed'), closedMs: null, result: null }] }, /^I0: deploy:x0-a1:run never closed/);
  });
  test('detects two of our deployments at once', () => {
    const runs = [run('completed'), run('completed', { runId: 'other' })];
    broken({ journal: [...JOURNAL.slice(0, 2), post(40, '2', 'other'), ...JOURNAL.slice(2)], runs }, /^I1: .*x0-a1/m);
  });
  test('accepts two of our deployments at once if the operation of the second one was terminated before', () => {
    const runs = [run('completed'), { ...run('completed', { runId: 'other' }), result: null }];
    const journal = [...JOURNAL.slice(0, 2), post(40, '2', 'other'), ...JOURNAL.slice(2)];
    const terminated = (closedMs: number) => [
      { workflowId: `deploy-site:${SITE}`, parentRunId: 'other', closedMs: ZERO_MS + closedMs, isTerminated: true },
    ];
    assert.deepEqual(verdict({ journal, runs, operations: terminated(30) }).violations, []);
    broken({ journal, runs, operations: terminated(50) }, /^I1: .*x0-a1/m);
  });
  test('accepts two of our deployments at once if a deployment of another user hid the first one', () => {
    const runs = [run('completed', { endMs: 300 }), run('completed', { runId: 'other', endMs: 9_000 })];
    const scripts = { [SITE]: [{ durationMs: 5_000 }, { durationMs: 100 }, { durationMs: 100 }] };
    const operations = [
      { workflowId: `deploy-site:${SITE}`, parentRunId: 'run', closedMs: ZERO_MS + 310, isTerminated: false },
    ];
    const begins = (by: JournalEntry['by']) => [
      ...[read(10, 'failed'), post(20, '1')],
      ...[post(40, '9', 'none', { by, idempotencyKey: null }), read(220, 'completed')],
      ...[post(400, '2', 'other'), read(600, 'completed')],
    ];
    const inFlight = (by: JournalEntry['by']) =>
      verdict({ journal: begins(by), runs, scripts, operations }).violations.filter((it) => it.startsWith('I1: '));
    assert.deepEqual(inFlight('outside'), []);
    // The first one and ours that hid it are such a pair.
    assert.equal(inFlight('api').length, 1);
  });
  test('detects an outcome that a terminated operation cannot have reported', () => {
    const operations = [
      { workflowId: `deploy-site:${SITE}`, parentRunId: 'run', closedMs: ZERO_MS + 700, isTerminated: true },
    ];
    broken({ operations }, /^I4: .*completed, though its operation was terminated/m);
    assert.deepEqual(verdict({ operations, runs: [run('unknown')] }).violations, []);
  });
  test('detects a second deployment before the settle time is over', () => {
    broken(again(11_000, silence(200, 11_000)), /^I2: .*before the settle time was over/m);
  });
  test('detects a second deployment after a trace of the first', () => {
    broken(
      again(24_000, [...silence(200, 20_000), read(20_000, 'deploying'), ...silence(20_200, 24_000)]),
      /^I2: .*a trace/m,
    );
  });
  test('detects a second deployment after a gap in the reads', () => {
    broken(again(40_000, silence(200, 10_000)), /^I2: .*no read for/m);
  });
  test('excuses a second deployment if the first left no trace for the whole settle time', () => {
    assert.deepEqual(verdict(again(24_000, silence(200, 24_000))).violations, []);
  });
  test('detects a deployment before its backup was read as completed', () => {
    const began = { id: '7', kind: 'backup' as const, target: 'x0-s1' };
    const backup = entry(5, 'POST /v1/servers/x0-s1/backups', { began, idempotencyKey: 'run:backup' });
    const journal = [backup, entry(15, 'GET /v1/backups/7', { said: 'running' }), ...JOURNAL];
    const runs = [{ ...run('completed'), type: 'backupThenDeploy' as const }];
    broken({ journal, runs }, /^I3: .*before backup 7 .*said "running"/m);
  });
  test('detects a verdict that contradicts the journal', () => {
    broken({ runs: [run('failed')] }, /^I4: .*failed, though .* ends completed/m);
    broken({ journal: JOURNAL.slice(0, 3) }, /^I4: .*completed before .* had ended/m);
    broken(
      { journal: [read(10, 'failed'), read(220, 'deploying'), read(620, 'completed')] },
      /^I4: .*nothing was begun/m,
    );
  });
  test('detects an outcome that claims less than the journal shows', () => {
    broken({ runs: [run('not_started')] }, /^I4: .*not_started, though .*began 1/m);
    broken({ runs: [run('unknown')] }, /^I4: .*unknown, though every request was answered/m);
    const outages = (fromMs: number) => [{ fromMs: ZERO_MS + fromMs, toMs: ZERO_MS + 9_000 }];
    broken({ runs: [run('unknown')], outages: outages(5_000) }, /^I4: .*unknown, though every request was answered/m);
    assert.deepEqual(verdict({ runs: [run('unknown')], outages: outages(700) }).violations, []);
    const others = [run('unknown'), run('cancelled', { runId: 'other' })].map((it) => ({
      ...it,
      cancelledMs: ZERO_MS,
    }));
    assert.deepEqual(verdict({ runs: others }).violations, [], 'the other run may have made the read');
    const pause = (askedMs: number) => [...JOURNAL, entry(-20_000, 'GET /v1/backups/9', { asksToWaitMs: askedMs })];
    broken({ runs: [run('unknown')], journal: pause(10_000) }, /^I4: .*unknown, though every request was answered/m);
    assert.deepEqual(verdict({ runs: [run('unknown')], journal: pause(25_000) }).violations, []);
    // Another draw's, on the same worker.
    const heldBack = run('unknown');
    const message = 'the last one failed with: GET /: not sent: the service asked this worker to wait';
    heldBack.result!.deployments[0]!.error = { type: 'OutcomeUnknown', message };
    assert.deepEqual(verdict({ runs: [heldBack] }).violations, []);
    broken({ runs: [run('timed_out')] }, /^I4: .*timed_out after 2 of 20 reads/m);
    broken({ runs: [run('cancelled')] }, /^I4: .*cancelled without a request/m);
  });
  test('counts a push between baseline and verdict separately', () => {
    const push = entry(300, `a push deploys ${SITE}`, {
      by: 'outside',
      began: { id: '2', kind: 'deployment', target: SITE },
    });
    const judged = verdict({ journal: [...JOURNAL, push], runs: [run('failed')] });
    assert.deepEqual(judged, { violations: [], apart: [SITE] });
  });
});

describe('freezes and checks', () => {
  const LATE = 20_000;
  const sent = [read(10, 'failed'), post(LATE, '1'), read(LATE + 200, 'deploying'), read(LATE + 620, 'completed')];
  const freeze = (more: Partial<PlayedFreeze> = {}): PlayedFreeze => ({
    ...{ name: 'stock', target: SITE, fromMs: ZERO_MS, toMs: ZERO_MS + 60_000, backups: false, override: 'reason' },
    ...more,
  });
  const frozen = (more: Partial<PlayedFreeze>, override?: RunInput['override']) => ({
    journal: sent,
    freezes: [freeze(more)],
    runs: [run('completed', { endMs: LATE + 1_000, ...(override === undefined ? {} : { input: { override } }) })],
  });
  const CVE = { freezes: ['stock'], reason: 'CVE' };

  test('a request in a freeze is a violation, unless the run was let off it', () => {
    broken(frozen({}), /^I5: deploy:x0-a1:run sent .* in the freeze stock$/m);
    assert.deepEqual(verdict(frozen({}, CVE)).violations, []);
    broken(frozen({ override: 'never' }, CVE), /^I5: /m);
    broken(frozen({ fromMs: ZERO_MS + LATE + 2_000 - 10_000 }, { ...CVE, freezes: ['other'] }), /^I5: /m);
  });

  test('a run is let off a freeze of belay.yaml that begins later, and off none that a person sets later', () => {
    const later = (name: string) => {
      const override = { freezes: [name], reason: 'CVE' };
      const played = frozen({ name, fromMs: ZERO_MS + 1_000 }, override);
      const held = { for: 'freeze', name, from: at(0), to: at(0), end: 'overridden', by: null, why: 'CVE' } as const;
      played.runs?.forEach(({ result }) => result?.held.push(held));
      return played;
    };
    assert.deepEqual(verdict(later('stock')).violations, []);
    broken(later(`freeze:site:${SITE}`), /^I5: /m);
  });

  test('a request before a freeze, just after its begin, after its end, or of another site, is none', () => {
    for (const more of [
      { fromMs: ZERO_MS + LATE + 1 },
      { fromMs: ZERO_MS + LATE - 2_000 },
      { toMs: ZERO_MS + LATE },
      { target: 'x0-a2' },
    ])
      assert.deepEqual(verdict(frozen(more)).violations, []);
  });

  test('a deployment that completes without the good reads of its check is a violation', () => {
    const done = run('completed');
    const visits = (count: number) =>
      Array.from({ length: count }, (_, n) => entry(700 + n, `GET /sites/${SITE}/`, { by: 'visitor' }));
    const passed = { name: 'answers', outcome: 'passed', reads: 3, goodReads: 3, baseline: null, last: null } as const;
    broken({ checked: [SITE], runs: [done] }, /^I6: deploy:x0-a1:run completed x0-a1 without as many good reads/m);
    Object.assign(done.result!.deployments[0]!, { check: passed, acceptedAt: at(30) });
    broken({ checked: [SITE], runs: [done], journal: [...JOURNAL, ...visits(1)] }, /^I6: /m);
    const whole = { checked: [SITE], runs: [done], journal: [...JOURNAL, ...visits(3)] };
    assert.deepEqual(verdict(whole).violations, []);
    assert.deepEqual(verdict({ runs: [run('completed')] }).violations, []);
  });

  test('a failed check is judged by what the service reports', () => {
    const failed = run('failed');
    const check = { name: 'answers', outcome: 'failed', reads: 6, goodReads: 0, baseline: null, last: null } as const;
    Object.assign(failed.result!.deployments[0]!, { check, error: { type: 'CheckFailed', message: 'x' } });
    assert.deepEqual(verdict({ checked: [SITE], runs: [failed] }).violations, []);
    Object.assign(failed.result!.deployments[0]!, { error: { type: 'DeploymentFailed', message: 'x' } });
    broken({ checked: [SITE], runs: [failed] }, /^I4: .*failed, though/m);
  });

  test('a verdict of another deployment is a violation if the ids told them apart, and none if no answer could', () => {
    const shows = (ms: number, said: string, id: string) => entry(ms, LATEST, { said, shows: id });
    const push = entry(150, `a push deploys ${SITE}`, {
      by: 'outside',
      began: { id: '2', kind: 'deployment', target: SITE },
    });
    const journal = (...reads: JournalEntry[]) => [shows(10, 'completed', '0'), post(100, '1'), push, ...reads];
    const scripts = {
      [SITE]: [
        { durationMs: 200, ends: 'failed' },
        { durationMs: 200, ends: 'completed' },
      ],
    };
    const named = { target: SITE, latest: { id: 'own' }, trigger: 'own' } as const;
    const ours = journal(shows(120, 'deploying', '1'), shows(200, 'deploying', '2'), shows(500, 'completed', '2'));
    const pushFirst = journal(shows(200, 'deploying', '2'), shows(500, 'completed', '2'));
    broken({ scripts, journal: ours, answers: [named] }, /^I4: .*completed, though/m);
    const excused = [
      { journal: pushFirst, answers: [named] },
      { journal: ours, answers: [{ target: SITE, latest: { id: 'own' } }] as const },
      { journal: ours, answers: [{ target: SITE, replica: { every: 2, lagMs: 100 } }] },
    ];
    for (const it of excused) assert.deepEqual(verdict({ scripts, ...it, answers: [...it.answers] }).violations, []);
  });

  test('a push that lasts is taken for ours if only the read of another run may have shown ours', () => {
    const shows = (ms: number, said: string, id: string) => entry(ms, LATEST, { said, shows: id });
    const push = entry(300, `a push deploys ${SITE}`, {
      by: 'outside',
      began: { id: '2', kind: 'deployment', target: SITE },
    });
    const pushed = [500, 700, 900].map((ms) => shows(ms, 'completed', '2'));
    const played = {
      journal: [shows(10, 'completed', '0'), post(100, '1'), shows(200, 'deploying', '1'), push, ...pushed],
      scripts: {
        [SITE]: [
          { durationMs: 200, ends: 'failed' as const },
          { durationMs: 0, ends: 'completed' as const },
        ],
      },
      answers: [{ target: SITE, latest: { id: 'own' }, trigger: 'own' } as const],
    };
    broken(played, /^I4: .*completed, though/m);
    const runs = [run('completed'), run('not_started', { runId: 'other' })];
    assert.deepEqual(verdict({ ...played, runs }).violations, []);
  });
});
