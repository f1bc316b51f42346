/** One build of the workers, if they are versioned. Pure. */

/** Global variable of workflow code on a versioned worker. Temporal accepts the behavior of a workflow only from those. */
export const VERSIONED_WORKER = 'belayVersionedWorker';

export interface WorkerVersion {
  deploymentName: string;
  buildId: string;
}

export const isSameVersion = (a: WorkerVersion | null, b: WorkerVersion | null): boolean =>
  a?.deploymentName === b?.deploymentName && a?.buildId === b?.buildId;

/** As Temporal writes it, such as `belay:2027-01-a`. */
export const versionText = ({ deploymentName, buildId }: WorkerVersion): string => `${deploymentName}:${buildId}`;

/** @returns null for what is not such a text */
export function parseVersion(text: string): WorkerVersion | null {
  const [deploymentName = '', ...rest] = text.split(':');
  return rest.length === 0 ? null : { deploymentName, buildId: rest.join(':') };
}

/** The command that makes a build take new runs. */
export const makeCurrent = ({ deploymentName, buildId }: WorkerVersion): string =>
  `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;

/** The command that lets the current build continue the runs of another one. */
export const moveRuns = (from: WorkerVersion): string =>
  `temporal workflow update-options --query 'TemporalWorkerDeploymentVersion="${versionText(from)}" ` +
  `AND ExecutionStatus="Running"' --versioning-override-behavior auto_upgrade`;
