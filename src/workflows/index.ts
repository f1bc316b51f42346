/** The workflows, and nothing else: everything exported here can be started by its name. */
export { backupServer } from './operation/backup-server.ts';
export { recordBackup } from './operation/backup-records.ts';
export { deploySite } from './operation/deploy-site.ts';
export { handleEvent } from './event/handle-event.ts';
export { rollOut } from './rollout/roll-out.ts';
export { runScheduled } from './schedule/run-scheduled.ts';
export { backupOnly, backupThenDeploy, deployOnly } from './run/run-workflows.ts';
export { sendNotifications } from './notify/send-notifications.ts';
export { watchDeployment } from './run/watch-deployment.ts';
