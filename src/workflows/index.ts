/** The workflows, and nothing else: everything exported here can be started by its name. */
import { setWorkflowOptions } from '@temporalio/workflow';
import { isRecord } from '../contract/plain-object.ts';
import { VERSIONED_WORKER } from '../contract/worker-identity.ts';
import { backupServer as backUp, recordBackup } from './operation/backup-server.ts';
import { deploySite as deploy } from './operation/deploy-site.ts';
import { handleEvent } from '../features/events/workflow.ts';
import { freeze } from '../features/freezes/workflow.ts';
import { rollOut as roll } from '../features/rollouts/workflow.ts';
import { runScheduled } from '../features/schedules/workflow.ts';
import { createRuns } from './run/run-workflows.ts';
import type { BackupServerInput, DeploySiteInput } from '../contract/operation.ts';
import type { RolloutInput, RolloutResult } from '../features/rollouts/shapes.ts';
import type { BackupResult, DeploymentResult } from '../contract/run.ts';
import { ON_OPERATIONS, ON_ROLLOUTS, ON_RUNS } from './features.ts';
import { report } from '../features/notifications/report-workflow.ts';
import { sendNotifications } from '../features/notifications/workflow.ts';

const { backupThenDeploy, backupOnly, deployOnly, watchDeployment } = createRuns(ON_RUNS, ON_OPERATIONS);
const rollOut = (input: RolloutInput): Promise<RolloutResult> => roll(input, ON_ROLLOUTS);
const deploySite = (input: DeploySiteInput): Promise<DeploymentResult> => deploy(orEmpty(input), ON_OPERATIONS);
const backupServer = (input: BackupServerInput): Promise<BackupResult> => backUp(orEmpty(input), ON_OPERATIONS);

/**
 * The UI can start an operation without an input. An error of its code would then fail each workflow task, and the operation
 * would hold its lock for ever.
 */
function orEmpty<I extends object>(input: I): I {
  return isRecord(input) ? input : ({} as I);
}

type AnyWorkflow = (...args: unknown[]) => Promise<unknown>;

/** A run and its operations end on the build that began them: they send requests. */
const PINNED = [backupThenDeploy, backupOnly, deployOnly, watchDeployment, backupServer, deploySite];
/** These may wait for days, and would keep a build alive. Each change of them is patched. */
const MOVING = [rollOut, runScheduled, handleEvent, recordBackup, sendNotifications, report, freeze];

if (VERSIONED_WORKER in globalThis) {
  for (const workflow of PINNED) setWorkflowOptions({ versioningBehavior: 'PINNED' }, workflow as AnyWorkflow);
  for (const workflow of MOVING) setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, workflow as AnyWorkflow);
}

export {
  backupOnly,
  backupServer,
  backupThenDeploy,
  deployOnly,
  deploySite,
  freeze,
  handleEvent,
  recordBackup,
  report,
  rollOut,
  runScheduled,
  sendNotifications,
  watchDeployment,
};
