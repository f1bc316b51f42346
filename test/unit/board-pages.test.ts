import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notYetRead } from '../../src/cli/target-reader.ts';
import type { InFlight } from '../../src/features/overview/client.ts';
import { boardPage, targetPage } from '../../src/features/board/page.ts';
import { boardStatusOf } from '../../src/features/board/status.ts';
import type { Outcome } from '../../src/contract/names.ts';
import type { ScheduleState } from '../../src/starter.ts';
import { inFlight, NOW, nowMs, pastOf, seen, site, verdict } from '../support/board.ts';

const HOSTILE = '<script>alert(1)</script>"\'&\u001b[31m\u202eevil';

test('every target of belay.yaml has a row, and so has what ran without being in it', () => {
  const { targets } = boardStatusOf(
    seen({
      targets: [site('a1'), site('a2')],
      past: pastOf({ 'site:a2': [verdict()], 'app:b1': [verdict()], 'server:s9': [verdict({ serverId: 's9' })] }),
    }),
    nowMs,
  );
  assert.deepEqual(
    targets.map(({ kind, id, server, fleet, now, last }) => [kind, id, server, fleet, now, last?.outcome ?? null]),
    [
      ['site', 'a1', 's1', 'shop', null, null],
      ['site', 'a2', 's1', 'shop', null, 'completed'],
      ['app', 'b1', 's1', null, null, 'completed'],
      ['server', 's9', 's9', null, null, 'completed'],
    ],
  );
});

test('a row shows what its run in flight waits for, and keeps its last verdict', () => {
  const past = pastOf({ 'site:a1': [verdict({ outcome: 'failed', error: 'boom' })] });
  const { targets, attention } = boardStatusOf(
    seen({ targets: [site('a1')], inFlight: [inFlight('a1')], past }),
    nowMs,
  );
  assert.equal(targets[0]?.now, 'deployment of a1: try 7 of 30, last status "building"');
  assert.deepEqual([targets[0]?.run?.workflowId, targets[0]?.last?.outcome], ['deploy:a1:k2', 'failed']);
  // It is tried again.
  assert.deepEqual(attention, []);
});

test('what needs attention comes first, with the reason', () => {
  const past = pastOf({
    'site:a1': [verdict()],
    'site:a2': [verdict({ outcome: 'unknown', error: 'the service went away', evidence: null })],
    'site:a3': [verdict({ outcome: 'not_started', error: 'frozen', evidence: null })],
  });
  const schedule = { scheduleId: 'belay:shop:nightly', paused: true, note: 'stocktaking', next: [], last: [] };
  const { targets, attention } = boardStatusOf(
    seen({
      ...{ targets: ['a1', 'a2', 'a3', 'a4'].map((id) => site(id)), past, workers: [] },
      inFlight: [inFlight('a4', 'building', { needsAttention: true })],
      schedules: [{ ...schedule, answered: true, when: null, timeZone: 'UTC', skipped: 0, missed: 0 }],
    }),
    nowMs,
  );
  assert.deepEqual(
    targets.map(({ id }) => id),
    ['a2', 'a4', 'a1', 'a3'],
  );
  assert.deepEqual(
    attention.map(({ kind, what, why }) => [kind, what, why]),
    [
      ['no_worker', 'workers', 'no worker polls the task queue'],
      ['failing_reads', 'site a4', 'deployment of a4: try 7 of 30, last status "building"'],
      ['unknown', 'site a2', 'the service went away'],
      ['schedule_paused', 'belay:shop:nightly', 'paused: stocktaking'],
    ],
  );
});

test('what needs attention dates from what it waits for, and not from the start of its run', () => {
  const [started, since, until] = ['2026-03-02T07:59:30.000Z', '2026-03-02T07:59:50.000Z', '2026-03-02T09:00:00.000Z'];
  const parked = { since, until, reason: '503' };
  const waits = [
    { kind: 'deployment', try: 1, tries: 30, lastStatus: null, lastReadAt: null, nextReadAt: until, parked },
    { kind: 'lock', lockId: 'deploy-site:a5', lockedBy: null, since },
    { kind: 'deployment', try: 1, tries: 30, lastStatus: null, lastReadAt: null, nextReadAt: until },
  ] as const;
  const waiting = waits.map((it, index) => {
    const { status, ...run } = inFlight(`a${index + 1}`, 'building', { needsAttention: true });
    return { ...run, status: { ...status, waiting: it } } as InFlight;
  });
  const { attention } = boardStatusOf(seen({ inFlight: waiting }), nowMs);
  assert.deepEqual(
    attention.map((it) => it.since),
    [since, since, started],
  );
});

test('a run that requested nothing hides no verdict that needs attention, and is still one of the last hours', () => {
  const cancelled = verdict({ outcome: 'not_started', error: 'cancelled', evidence: null });
  const earlier = (outcome: Outcome) => verdict({ outcome, error: 'boom', endedAt: '2026-03-01T08:00:00.000Z' });
  const past = pastOf({
    'site:a1': [cancelled, cancelled, earlier('unknown')],
    'site:a2': [cancelled, earlier('completed'), earlier('failed')],
    'site:a3': [cancelled],
  });
  const all = seen({ targets: ['a1', 'a2', 'a3'].map((id) => site(id)), past });
  const { targets, attention } = boardStatusOf(all, nowMs, '2026-03-02T00:00:00.000Z');
  assert.deepEqual(
    targets.map(({ id, last }) => [id, last?.outcome]),
    [
      ['a1', 'unknown'],
      ['a2', 'completed'],
      ['a3', 'not_started'],
    ],
  );
  assert.deepEqual(
    attention.map(({ kind, what, why }) => [kind, what, why]),
    [['unknown', 'site a1', 'boom']],
  );
});

test('a schedule needs attention that should have fired, or fired and started nothing', () => {
  const rest = { answered: true, when: null, timeZone: 'UTC', paused: false, note: null, skipped: 0, missed: 0 };
  const firing = { workflowId: null, outcome: null, forgotten: false, alreadyStarted: false, frozen: null };
  const late = '2026-03-02T07:00:00.000Z';
  const schedules: ScheduleState[] = [
    { ...rest, scheduleId: 'belay:a:late', next: [late], last: [] },
    { ...rest, scheduleId: 'belay:a:waits', next: [], last: [{ ...firing, firedAt: late }] },
    { ...rest, scheduleId: 'belay:a:forgotten', next: [], last: [{ ...firing, firedAt: late, forgotten: true }] },
    { ...rest, scheduleId: 'belay:a:soon', next: ['2026-03-02T09:00:00.000Z'], last: [] },
  ];
  const { attention, next } = boardStatusOf(seen({ schedules }), nowMs);
  assert.deepEqual(
    attention.map(({ kind, what, since }) => [kind, what, since]),
    [
      ['schedule_late', 'belay:a:late', late],
      ['schedule_late', 'belay:a:waits', late],
    ],
  );
  assert.deepEqual(next.at(-1), { at: '2026-03-02T09:00:00.000Z', scheduleId: 'belay:a:soon' });
});

test('with a time, only what runs or ran since then has a row', () => {
  const past = pastOf({
    'site:a1': [verdict({ endedAt: '2026-03-01T08:00:00.000Z' })],
    'site:a2': [verdict()],
  });
  const all = seen({ targets: ['a1', 'a2', 'a3'].map((id) => site(id)), past, inFlight: [inFlight('a3')] });
  const { targets, since } = boardStatusOf(all, nowMs, '2026-03-02T00:00:00.000Z');
  assert.deepEqual([targets.map(({ id }) => id), since], [['a3', 'a2'], '2026-03-02T00:00:00.000Z']);
});

test('reads of the service that fail are one line, and a target that was never deployed is none', () => {
  const reading = (id: string, problem: string) =>
    [`site:${id}`, { ...notYetRead(site(id)), problem, isMissing: problem.startsWith('404') }] as const;
  const readings = new Map([
    reading('a1', '503 busy'),
    reading('a2', '503 busy'),
    reading('a3', '404 {"message":"no"}'),
  ]);
  const status = boardStatusOf(seen({ targets: ['a1', 'a2', 'a3'].map((id) => site(id)), readings }), nowMs);
  const page = boardPage(status);
  assert.ok(page.includes('no deployment') && !page.includes('404'), page);
  assert.deepEqual(
    status.attention.map(({ kind, what, why }) => [kind, what, why]),
    [['service', '2 targets', 'the service could not be read: 503 busy']],
  );
});

test('text from outside is never taken as markup, and loses its control characters', () => {
  const past = pastOf({
    [`site:${HOSTILE}`]: [
      verdict({ outcome: 'failed', error: HOSTILE, by: HOSTILE, commit: HOSTILE, workflowId: HOSTILE }),
      verdict({ ui: 'javascript:alert(1)' }),
    ],
  });
  const target = { ...site('a1'), ...{ kind: 'site' as const, id: HOSTILE, server: HOSTILE, fleet: HOSTILE } };
  const reading = { ...notYetRead(target), status: HOSTILE, readAt: NOW, problem: HOSTILE };
  const status = boardStatusOf(
    seen({
      ...{ targets: [target], past, readings: new Map([[`site:${HOSTILE}`, reading]]) },
      inFlight: [inFlight(HOSTILE, HOSTILE)],
      problems: [{ source: 'workers', message: HOSTILE, since: NOW }],
    }),
    nowMs,
  );
  const [row] = status.targets;
  assert.ok(row !== undefined);
  for (const page of [boardPage(status), targetPage({ row, past: past.of(row) }, status)]) {
    assert.ok(page.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
    assert.doesNotMatch(page, /<script>|javascript:/);
    // eslint-disable-next-line no-control-regex -- looks for control characters
    assert.doesNotMatch(page, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
});

test('the page of a target says where it is, and then when it was read, in two sentences', () => {
  const status = boardStatusOf(seen({ targets: [site('a1')] }), nowMs);
  const page = targetPage({ row: status.targets[0]!, past: [] }, status).replace(/\s+/g, ' ');
  assert.match(page, /server s1, fleet shop\. Read /);
});

test('an outcome is a sign and a word, so that it needs no color', () => {
  const outcomes = ['completed', 'failed', 'unknown', 'timed_out', 'cancelled', 'not_started'] as const;
  const past = pastOf(Object.fromEntries(outcomes.map((outcome) => [`site:${outcome}`, [verdict({ outcome })]])));
  const page = boardPage(boardStatusOf(seen({ past }), nowMs)).replace(/\s+/g, ' ');
  const signs = [...page.matchAll(/class="outcome \w+" ?> ?<span aria-hidden="true">(.)<\/span ?> ([a-z ]+?) ?</g)];
  assert.deepEqual(new Set(signs.map(([, sign]) => sign)).size, outcomes.length);
  assert.deepEqual(new Set(signs.map(([, , name]) => name)), new Set(outcomes.map((it) => it.replaceAll('_', ' '))));
});

test('the page of a target has its last runs as a strip, its usual duration, and what changed', () => {
  const completed = [60, 62, 64, 66, 90].map((seconds) => verdict({ durationMs: seconds * 1_000, commit: 'aaaaaaa' }));
  const past = [verdict({ outcome: 'failed', commit: 'bbbbbbb', by: 'ben@ci', error: 'boom' }), ...completed];
  const [row] = boardStatusOf(seen({ past: pastOf({ 'site:a1': past }) }), nowMs).targets;
  const page = targetPage({ row: row!, past }, { problems: [], readAt: NOW });
  assert.match(page, /1m04s; nine of ten take at most 1m30s \(5 completed runs\)/);
  assert.match(page, /verdict completed → failed; commit aaaaaaa → bbbbbbb; by ana@ci → ben@ci/);
  assert.equal([...page.matchAll(/<li class="completed"/g)].length, 5);
});

test('a page says since when it may be old', () => {
  const problems = ['workers', 'freezes'].map((source) => ({ source, message: 'Temporal is away', since: NOW }));
  const page = boardPage(boardStatusOf(seen({ problems }), nowMs));
  assert.match(page.replace(/\s+/g, ' '), /may be old:<\/strong> Temporal is away \(workers, freezes, since/);
});
