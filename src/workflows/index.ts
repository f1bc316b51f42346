/** The workflows, and nothing else: everything exported here can be started by its name. */
export { backupServer } from './backup-server.ts';
export { deploySite } from './deploy-site.ts';
export { backupOnly, backupThenDeploy, deployOnly } from './runs.ts';
export { watchDeployment } from './watch-deployment.ts';
