/** The rules of Belay, each broken on purpose in one place, and where to look for the consequences. */
import type { Mix } from './mix.ts';

export interface Mutant {
  rule: string;
  /** In this order; a text that isn't found any more is an error. */
  changes: { file: string; from: string; to: string }[];
  mix: Partial<Mix>;
}

const change = (file: string, from: string, to: string) => ({ file: `src/${file}`, from, to });
const AMBIGUOUS: Partial<Mix> = { triggerFault: 95, readFault: 5, cancel: 0, never: 0, push: 0, earlyPush: 0 };

export const MUTANTS: Mutant[] = [
  {
    rule: 'evidence ignored: any final status is ours',
    changes: [change('workflows/rules/verdict.ts', "if (seen.inProgress) return 'transition';", "return 'changed';")],
    mix: { lag: 80 },
  },
  {
    rule: 'an ambiguous POST is sent again at once',
    changes: [
      change(
        'workflows/deploy-site.ts',
        'const found = await reconcile(deployment, question, { ...sent, ambiguities: ends.ambiguous });',
        "const found = 'send again' as Awaited<ReturnType<typeof reconcile>>;",
      ),
    ],
    mix: AMBIGUOUS,
  },
  {
    rule: 'a lock of its own for every run',
    changes: [
      change('workflows/run-deployments.ts', 'deploySiteId(siteId);', 'deploySiteId(siteId) + run.result.runId;'),
      change('workflows/run-backup.ts', 'backupServerId(serverId);', 'backupServerId(serverId) + run.result.runId;'),
      change('workflows/operation.ts', 'workflowId === lockId', 'workflowId.startsWith(lockId)'),
    ],
    mix: { oneSite: 100, minRuns: 4, cancel: 0 },
  },
  {
    rule: 'the backup is not waited for',
    changes: [
      change(
        'workflows/backup-server.ts',
        'return backupEnd(operation,',
        "if (result.backupId !== null) return { outcome: 'completed', error: null };\n    return backupEnd(operation,",
      ),
    ],
    mix: {},
  },
  {
    rule: 'a deployment follows whatever became of the backup',
    changes: [change('workflows/runs.ts', "backup.outcome === 'completed' && ", '')],
    mix: {},
  },
  {
    rule: 'a 5xx is taken to have had no effect',
    changes: [change('activities/failures.ts', 'if (status === 429 ||', 'if (status >= 500 || status === 429 ||')],
    mix: AMBIGUOUS,
  },
  {
    rule: 'a failed read is taken for a failed status',
    changes: [
      change(
        'workflows/verdict-wait.ts',
        'if (!answer.ok) return deletion(watcher, result.siteId, answer);',
        "if (!answer.ok) return { kind: 'verdict', outcome: 'failed', evidence: 'changed' } as const;",
      ),
    ],
    mix: { readFault: 95, lag: 0 },
  },
  {
    rule: 'a cancelled deployment is not_started, though triggered',
    changes: [
      change(
        'workflows/wait.ts',
        "return ended('cancelled', 'Cancelled', message);",
        "return ended('not_started', 'Cancelled', message);",
      ),
    ],
    mix: { cancel: 90, never: 20 },
  },
  {
    rule: 'one read settles it',
    changes: [
      change('workflows/rules/verdict.ts', 'const SETTLED_READS = 4;', 'const SETTLED_READS = 1;'),
      change('workflows/rules/verdict.ts', 'nowMs - acceptedMs >= settleMs', 'nowMs - acceptedMs >= 0 * settleMs'),
    ],
    mix: { lag: 80 },
  },
  {
    rule: 'a trace is looked for once only',
    changes: [
      change(
        'workflows/reconcile.ts',
        'const tries = Math.ceil((endsMs - beat.originMs) / intervalMs) - beat.lastSlot;',
        'const tries = 1; void endsMs;',
      ),
    ],
    mix: AMBIGUOUS,
  },
  {
    rule: "somebody else's deployment in progress is not waited for",
    changes: [
      change(
        'workflows/baseline.ts',
        "answer.state === 'in_progress' ? undefined : { baseline: answer }",
        '{ baseline: answer }',
      ),
    ],
    mix: { earlyPush: 100, lag: 60, push: 0, cancel: 0 },
  },
  {
    rule: 'timed_out is told as completed',
    changes: [
      change(
        'workflows/verdict-wait.ts',
        "return ended('timed_out', 'DeploymentTimedOut', `${name} had not ended ${state}`);",
        "return { outcome: 'completed', error: null };",
      ),
    ],
    mix: { never: 40, push: 0, cancel: 0 },
  },
];
