/** The runs that trigger something: a backup, deployments, or the first and then the second. */
import type { RunInput, RunResult } from '../../contract/run.ts';
import { backUp } from './backup-step.ts';
import { deployAll } from './deploy-step.ts';
import { execute } from './execute-run.ts';

/** Nothing is deployed, ever, unless the backup it rests on was read as completed. */
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
  if (serverId === undefined) throw new Error('the input was not checked');
  return serverId;
}
