import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyBackup, emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import type { Outcome } from '../../src/contract/names.ts';
import { NOTHING_ELSE, type JournalEntry } from '../../src/sandbox/state.ts';
import type { Done, Played } from '../model/record.ts';
import { problemsOf } from '../production/verdicts.ts';

const [SERVER, SITE] = ['p00-s1', 'p00-a1'];
const ZERO_MS = Date.parse('2026-01-01T00:00:00Z');
const at = (ms: number) => new Date(ZERO_MS + ms).toISOString();

const entry = (ms: number, request: string, more: Partial<JournalEntry>): JournalEntry => ({
  ...{ at: at(ms), by: 'api', request },
  ...{ ...NOTHING_ELSE, answered: 200 },
  ...more,
});

const backUp = (ms: number, id: string) =>
  entry(ms, `POST /v1/servers/${SERVER}/backups`, {
    idempotencyKey: 'run:backup',
    began: { id, kind: 'backup', target: SERVER },
  });
const deploy = (ms: number, id: string) =>
  entry(ms, `POST /v1/sites/${SITE}/deploy`, {
    idempotencyKey: `run:deploy-site:${SITE}`,
    began: { id, kind: 'deployment', target: SITE },
  });
const readBackup = (ms: number, id: string, said: string) => entry(ms, `GET /v1/backups/${id}`, { said });
const readSite = (ms: number, said: string) => entry(ms, `GET /v1/sites/${SITE}/deployments/latest`, { said });

const JOURNAL = [
  backUp(1_000, '1'),
  readBackup(4_000, '1', 'completed'),
  readSite(5_000, 'failed'),
  deploy(6_000, '2'),
  readSite(7_000, 'queued'),
  readSite(10_000, 'completed'),
];
const SCRIPTS = {
  [SERVER]: [{ durationMs: 2_000, ends: 'completed' }],
  [SITE]: [{ durationMs: 3_000, ends: 'completed' }],
};

const kill = (ms: number): Done => ({
  what: 'SIGKILL worker',
  forMs: 1_000,
  fromMs: ZERO_MS + ms,
  toMs: ZERO_MS + ms + 3_000,
});

function played(journal: JournalEntry[], deeds: Done[] = [], outcome: Outcome = 'completed', backupId = '1'): Played {
  const times = { startedAt: at(500), endedAt: at(11_000) };
  const ids = { workflowId: `backup-then-deploy:${SERVER}:r1`, runId: 'run' };
  const evidence = outcome === 'unknown' ? null : ('transition' as const);
  const result = emptyResult({
    ...ids,
    outcome,
    backup: { ...emptyBackup(SERVER, 'created'), backupId, outcome: 'completed', lastStatus: 'completed', ...times },
    deployments: [{ ...emptyDeployment(siteTarget(SITE)), outcome, evidence, lastStatus: 'completed', ...times }],
  });
  const waited = { startedMs: ZERO_MS, cancelledMs: null, closedMs: ZERO_MS + 60_000, waitsEnded: [] };
  const input = { serverId: SERVER, siteIds: [SITE], deploy: { intervalMs: 2_000 } };
  return {
    scripts: SCRIPTS,
    journal,
    runs: [{ type: 'backupThenDeploy', ...ids, ...waited, input, result }],
    operations: [],
    deeds,
  };
}

const found = (problems: string[], pattern: RegExp) =>
  assert.ok(
    problems.some((problem) => pattern.test(problem)),
    problems.join('\n') || 'no problem',
  );

test('a run whose outcome is that of the service is right', () => {
  assert.deepEqual(problemsOf(played(JOURNAL)), []);
});

test('a second deployment for one request is a problem, also after a kill', () => {
  const journal = [...JOURNAL, deploy(30_000, '3')];
  found(problemsOf(played(journal, [kill(6_500)])), /2 POSTs with the key run:deploy-site:p00-a1, of a deployment/);
});

test('a second backup is a problem, unless a worker was killed after the first request', () => {
  const journal = [backUp(1_000, '1'), backUp(16_000, '2'), readBackup(18_500, '2', 'completed')];
  const later = JOURNAL.slice(2).map((it) => ({ ...it, at: at(Date.parse(it.at) - ZERO_MS + 16_000) }));
  const twice = [...journal, ...later];
  found(problemsOf(played(twice, [kill(20_000)], 'completed', '2')), /2 POSTs .* no worker was killed between them/);
  assert.deepEqual(problemsOf(played(twice, [kill(1_500)], 'completed', '2')), []);
});

test('a verdict that differs from the outcome at the service is a problem', () => {
  const failed = { ...played(JOURNAL), scripts: { ...SCRIPTS, [SITE]: [{ durationMs: 3_000, ends: 'failed' }] } };
  found(problemsOf(failed), /is completed, not failed/);
});

test('an unknown outcome is a problem, unless a worker was killed meanwhile', () => {
  found(problemsOf(played(JOURNAL, [], 'unknown')), /is unknown, not completed/);
  found(problemsOf(played(JOURNAL, [kill(60_000)], 'unknown')), /is unknown, not completed/);
  assert.deepEqual(problemsOf(played(JOURNAL, [kill(6_500)], 'unknown')), []);
});
