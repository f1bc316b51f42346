/** The version of a worker, in the variables that Temporal's Worker Controller sets. */
import type { WorkerVersion } from '../../contract/worker-version.ts';
import { ConfigError } from './config-error.ts';
import { given, type Environment } from './variables.ts';

/** Temporal joins name and build id with these. */
const FORBIDDEN = /[.:]|^__/;

/** Null: the worker is not versioned. @throws ConfigError */
export function workerVersion(env: Environment = process.env): WorkerVersion | null {
  const deploymentName = given('TEMPORAL_DEPLOYMENT_NAME', env);
  const buildId = given('TEMPORAL_WORKER_BUILD_ID', env);
  if (deploymentName === null && buildId === null) return null;
  if (deploymentName === null || buildId === null) {
    const [set, missing] =
      buildId === null
        ? ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID']
        : ['TEMPORAL_WORKER_BUILD_ID', 'TEMPORAL_DEPLOYMENT_NAME'];
    throw new ConfigError(`${set} is set without ${missing}: set both for a versioned worker, or neither`);
  }
  if (!FORBIDDEN.test(deploymentName)) return { deploymentName, buildId };
  throw new ConfigError(
    `TEMPORAL_DEPLOYMENT_NAME: "${deploymentName}" cannot be the name of a deployment: use one without "." and ":" that does not begin with "__"`,
  );
}
