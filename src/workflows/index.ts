/** The workflows, and nothing else: everything exported here can be started by its name. */
export { backupServer } from './backup-server.ts';
export { recordBackup } from './backup-record.ts';
export { deploySite } from './deploy-site.ts';
export { handleEvent } from './handle-event.ts';
export { rollOut } from './roll-out.ts';
export { runScheduled } from './run-scheduled.ts';
export { backupOnly, backupThenDeploy, deployOnly } from './runs.ts';
export { tellTargets } from './tell-targets.ts';
export { watchDeployment } from './watch-deployment.ts';
