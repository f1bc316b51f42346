/** The runs: a backup, deployments, a backup and then deployments, or a watch, which triggers nothing. */
import type { RunInput, RunResult } from '../../contract/run.ts';
import type { OperationHooks } from '../operation/hooks.ts';
import { backUp } from './backup-step.ts';
import { deployAll } from './deploy-step.ts';
import { execute } from './execute-run.ts';
import type { RunHooks } from './hooks.ts';
import { watch } from './watch-deployment.ts';

type Run = (input: RunInput) => Promise<RunResult>;

export interface RunWorkflows {
  /** Never deploys unless this run has read its backup as completed. */
  backupThenDeploy: Run;
  backupOnly: Run;
  deployOnly: Run;
  /** Follows a deployment that something else starts, such as a push. */
  watchDeployment: Run;
}

export const createRuns = (hooks: RunHooks, ofOperations: OperationHooks): RunWorkflows => ({
  backupThenDeploy: (input) =>
    execute('backupThenDeploy', input, hooks, async (run) => {
      const backup = await backUp(run, serverOf(input));
      return backup.outcome === 'completed' && !run.cancellation.requested ? deployAll(run) : [backup];
    }),
  backupOnly: (input) => execute('backupOnly', input, hooks, async (run) => [await backUp(run, serverOf(input))]),
  deployOnly: (input) => execute('deployOnly', input, hooks, deployAll),
  watchDeployment: (input) =>
    execute('watchDeployment', input, hooks, async (run) => [await watch(run, ofOperations.checks)]),
});

function serverOf({ serverId }: RunInput): string {
  if (serverId === undefined) throw new Error('the input was not validated');
  return serverId;
}
