/** The workflows, and nothing else: everything exported here can be started by its name. */
import { setWorkflowOptions } from '@temporalio/workflow';
import { backupServer } from './operation/backup-server.ts';
import { recordBackup } from './operation/backup-records.ts';
import { deploySite } from './operation/deploy-site.ts';
import { handleEvent } from './event/handle-event.ts';
import { rollOut } from './rollout/roll-out.ts';
import { runScheduled } from './schedule/run-scheduled.ts';
import { backupOnly, backupThenDeploy, deployOnly } from './run/run-workflows.ts';
import { sendNotifications } from './notify/send-notifications.ts';
import { watchDeployment } from './run/watch-deployment.ts';

// Where workers are versioned, a run and its operations end on the build that began them: they send requests.
setWorkflowOptions({ versioningBehavior: 'PINNED' }, backupThenDeploy);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, backupOnly);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, deployOnly);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, watchDeployment);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, backupServer);
setWorkflowOptions({ versioningBehavior: 'PINNED' }, deploySite);
// These may wait for days, and would keep a build alive. Each change of them is patched.
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, rollOut);
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, runScheduled);
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, handleEvent);
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, recordBackup);
setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, sendNotifications);

export {
  backupOnly,
  backupServer,
  backupThenDeploy,
  deployOnly,
  deploySite,
  handleEvent,
  recordBackup,
  rollOut,
  runScheduled,
  sendNotifications,
  watchDeployment,
};
