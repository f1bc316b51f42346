/** The rules of Belay, each broken on purpose in one place, and the draws that show the consequences. */
import { change, type Mutant } from '../mutants/mutant.ts';
import { DOUBTFUL, type Mix } from './mix.ts';

/** A mutant that the judge of random scenarios notices. */
export interface ModelMutant extends Mutant {
  mix: Partial<Mix>;
}

export const MUTANTS: ModelMutant[] = [
  {
    rule: 'evidence ignored: any final status is ours',
    changes: [change('rules/verdict.ts', 'if (!accepted || !isSettled) return null;', '')],
    mix: { lag: 80 },
  },
  {
    rule: 'an ambiguous POST is sent again at once',
    changes: [
      change(
        'workflows/operation/deploy-site.ts',
        '=> reconcile(deployment, sent!, doubt),',
        '=> Promise.resolve(doubt.notBeforeMs),',
      ),
    ],
    mix: DOUBTFUL,
  },
  {
    rule: 'every run has its own lock',
    changes: [
      change('workflows/run/part.ts', 'lockIdOf(part.target);', 'lockIdOf(part.target) + run.result.runId;'),
      change(
        'workflows/run/part.ts',
        '? backupServerId(part.serverId) :',
        '? backupServerId(part.serverId) + run.result.runId :',
      ),
      change('workflows/operation/run-operation.ts', 'workflowId === lockId', 'workflowId.startsWith(lockId)'),
    ],
    mix: { oneSite: 100, minRuns: 4, cancel: 0 },
  },
  {
    rule: 'the run does not wait for the backup',
    changes: [
      change(
        'workflows/operation/backup-server.ts',
        'return awaitBackup(operation,',
        "if (result.backupId !== null) return { outcome: 'completed', error: null };\n    return awaitBackup(operation,",
      ),
    ],
    mix: {},
  },
  {
    rule: 'the run deploys regardless of the backup',
    changes: [change('workflows/run/run-workflows.ts', "backup.outcome === 'completed' && ", '')],
    mix: {},
  },
  {
    rule: 'a 5xx counts as without effect',
    changes: [change('activities/failures.ts', 'if (error.asksForPause)', 'if (status >= 500 || error.asksForPause)')],
    mix: DOUBTFUL,
  },
  {
    rule: 'a failed read counts as a failed status',
    changes: [
      change(
        'workflows/operation/await-verdict.ts',
        'if (!answer.ok) return concludeDeleted(operation, answer);',
        "if (!answer.ok) return conclude('failed', 'DeploymentFailed', 'a read failed');",
      ),
    ],
    mix: { readFault: 95, lag: 0 },
  },
  {
    rule: 'not_started is reported after a trigger',
    changes: [
      change(
        'workflows/polling/poll-until.ts',
        "return conclude('cancelled', 'Cancelled', message);",
        "return conclude('not_started', 'Cancelled', message);",
      ),
    ],
    mix: { cancel: 90, never: 20 },
  },
  {
    rule: 'one read is enough for settled',
    changes: [
      change('rules/verdict.ts', 'const SETTLED_READS = 4;', 'const SETTLED_READS = 1;'),
      change('rules/verdict.ts', 'nowMs - sinceMs >= settleMs', 'nowMs - sinceMs >= 0 * settleMs'),
    ],
    mix: { lag: 80 },
  },
  {
    rule: 'only one read looks for a trace',
    changes: [
      change(
        'workflows/operation/trace.ts',
        'tries: Math.ceil((endsMs - schedule.originMs) / intervalMs) - schedule.lastTick,',
        'tries: endsMs - endsMs + 1,',
      ),
    ],
    mix: DOUBTFUL,
  },
  {
    rule: "another user's deployment in progress is not waited for",
    changes: [
      change(
        'workflows/operation/deploy-site.ts',
        "if (answer.ok && answer.state !== 'in_progress') return",
        'if (answer.ok) return',
      ),
    ],
    mix: { earlyPush: 100, lag: 60, push: 0, cancel: 0 },
  },
  {
    rule: 'timed_out is reported as completed',
    changes: [
      change(
        'workflows/operation/await-verdict.ts',
        "return conclude('timed_out', 'DeploymentTimedOut', `${name} had not finished ${state}`);",
        "return { outcome: 'completed', error: null };",
      ),
    ],
    mix: { never: 40, push: 0, cancel: 0 },
  },
];
