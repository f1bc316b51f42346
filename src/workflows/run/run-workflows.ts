/** The runs that trigger something: a backup, deployments, or a backup and then deployments. */
import type { RunInput, RunResult } from '../../contract/run.ts';
import { backUp } from './steps/backup-step.ts';
import { deployAll } from './steps/deploy-step.ts';
import { execute } from './execute-run.ts';

/** Never deploys unless this run has read its backup as completed. */
export async function backupThenDeploy(input: RunInput): Promise<RunResult> {
  return execute('backupThenDeploy', input, async (run) => {
    const backup = await backUp(run, serverOf(input));
    return backup.outcome === 'completed' && !run.cancellation.requested ? deployAll(run) : [backup];
  });
}

export async function backupOnly(input: RunInput): Promise<RunResult> {
  return execute('backupOnly', input, async (run) => [await backUp(run, serverOf(input))]);
}

export async function deployOnly(input: RunInput): Promise<RunResult> {
  return execute('deployOnly', input, deployAll);
}

function serverOf({ serverId }: RunInput): string {
  if (serverId === undefined) throw new Error('the input was not validated');
  return serverId;
}
