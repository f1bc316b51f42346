/* Targets. Running histories store their shape: add, never rename or remove. Pure. */

/** What is deployed: a site, or an app. */
export interface Target {
  kind: 'site' | 'app';
  /** The service's own id. A site and an app may have the same id. */
  id: string;
}

export const TARGET_KINDS = ['site', 'app'] as const satisfies Target['kind'][];

/**
 * The targets that an input names, in either `siteIds` or `targets`. Without both, or with an empty list, nothing is
 * deployed.
 */
export interface TargetsInput {
  /** The sites in the order in which they are deployed. */
  siteIds?: string[];
  /** The targets in the order in which they are deployed. Use this instead of `siteIds` to deploy apps as well. */
  targets?: Target[];
}

export const siteTarget = (id: string): Target => ({ kind: 'site', id });
export const appTarget = (id: string): Target => ({ kind: 'app', id });

export const targetsOf = ({ siteIds, targets }: TargetsInput): Target[] => targets ?? (siteIds ?? []).map(siteTarget);

/** What a run is about. */
export interface RunParts extends TargetsInput {
  /** The server to back up. */
  serverId?: string | undefined;
  /**
   * The fleet that the run names. What belay.yaml says for that fleet also applies, even if it puts the server into another
   * fleet or into none.
   */
  fleet?: string | undefined;
}

export interface PlannedDeployment extends Omit<RunParts, keyof TargetsInput> {
  target: Target;
}

/** A deployment, or the backup of a server. */
export type PlannedOperation = PlannedDeployment | { serverId: string; fleet?: string | undefined };

export const deploymentsOf = ({ serverId, fleet, ...input }: RunParts): PlannedDeployment[] =>
  targetsOf(input).map((target) => ({ target, serverId, fleet }));

/** Returns what a run does, in its order. */
export function operationsOf(run: RunParts): PlannedOperation[] {
  const { serverId, fleet } = run;
  return [...(serverId === undefined ? [] : [{ serverId, fleet }]), ...deploymentsOf(run)];
}

/** Returns the shortest input that names these targets. */
export function targetsInput(targets: readonly Target[]): TargetsInput {
  const ids = targets.map(({ id }) => id);
  return targets.some(isApp) ? { targets: [...targets] } : { siteIds: ids };
}

export const isApp = ({ kind }: Target): boolean => kind === 'app';

export const isSameTarget = (a: Target, b: Target): boolean => a.kind === b.kind && a.id === b.id;

/** Returns the target's value in the search attribute `BelaySite`. */
export const targetAttribute = ({ kind, id }: Target): string => (kind === 'app' ? `app:${id}` : id);

export const targetOfAttribute = (value: string): Target =>
  value.startsWith('app:') ? appTarget(value.slice('app:'.length)) : siteTarget(value);

export const NO_APP_PATHS =
  'the worker has no paths for apps, because the service documents none: ' +
  "add api.app.deploy and api.app.latest to the worker's belay.yaml, such as /v1/apps/{id}/deploy " +
  'and /v1/apps/{id}/deployments/latest';

/** `site a1` or `app b1`, for sentences. @param shown formats the id for display */
export const targetText = ({ kind, id }: Target, shown: (id: string) => string = String): string =>
  `${kind} ${shown(id)}`;

/** `a1` or `app b1`, for labels, which show only the id of a site. @param shown formats the id for display */
export const targetLabel = ({ kind, id }: Target, shown: (id: string) => string = String): string =>
  kind === 'app' ? targetText({ kind, id }, shown) : shown(id);
