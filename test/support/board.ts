/** What a board has seen, for tests of its pages. */
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import type { Past, BoardSubject, PastVerdict } from '../../src/features/board/past.ts';
import type { BoardSeen } from '../../src/features/board/status.ts';
import type { InFlight } from '../../src/starter.ts';

export const NOW = '2026-03-02T08:00:00.000Z';
export const nowMs = Date.parse(NOW);

export const site = (id: string, server = 's1') => ({ ...siteTarget(id), server, fleet: 'shop' });

export const verdict = (more: Partial<PastVerdict> = {}): PastVerdict => ({
  ...{ workflowId: 'deploy:a1:k', runId: 'r', outcome: 'completed', evidence: 'transition' },
  ...{ startedAt: '2026-03-02T07:57:50.000Z', endedAt: '2026-03-02T07:59:00.000Z', durationMs: 70_000 },
  ...{ serverId: 's1', commit: null, by: 'ana@ci', error: null, ui: 'https://ui.example/deploy' },
  ...more,
});

export function pastOf(known: Record<string, PastVerdict[]>): Pick<Past, 'subjects' | 'of'> {
  const subjects = Object.keys(known).map((key): BoardSubject => {
    const [kind = '', ...id] = key.split(':');
    return { kind: kind as BoardSubject['kind'], id: id.join(':') };
  });
  return { subjects: () => subjects, of: ({ kind, id }) => known[`${kind}:${id}`] ?? [] };
}

export function inFlight(id: string, lastStatus = 'building', more: Partial<InFlight> = {}): InFlight {
  const deployments = [emptyDeployment(siteTarget(id))];
  const workflowId = `deploy:${id}:k2`;
  const result = emptyResult({ workflowId, phase: 'deploy', deployments, startedAt: '2026-03-02T07:59:30.000Z' });
  const waiting = { kind: 'deployment', try: 7, tries: 30, lastStatus, lastReadAt: null, nextReadAt: NOW } as const;
  const status = { result, waiting, contact: 'answers' } as const;
  return { workflowId, askedAt: NOW, needsAttention: false, kind: 'run', status, ...more } as InFlight;
}

const WORKER = { version: '0.2.0', where: 'host:1', since: NOW, build: null, takesNewRuns: true };

export const seen = (more: Partial<BoardSeen> = {}): BoardSeen => ({
  ...{ targets: [], inFlight: [], past: pastOf({}), readings: null, freezes: [], schedules: [] },
  ...{ workers: [WORKER], problems: [], readAt: NOW },
  ...more,
});
