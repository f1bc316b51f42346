/** The policy of a worker: what its belay.yaml says about when to deploy. */
import type { Configuration } from './load.ts';
import { isInScope, type Place, type Scope } from './file/scope.ts';
import { createInventoryCheck, buildInventory } from './inventory.ts';
import { hashOf } from '../contract/canonical-json.ts';
import type { PlannedOperation, RunParts } from '../contract/target.ts';
import { plainText } from '../contract/safe-text.ts';
import { approvalsPolicy, requireSigners } from '../features/approvals/worker-proofs.ts';
import { gatesPolicy, requireGates } from '../features/gates/worker.ts';
import { freezesPolicy } from '../features/freezes/worker-rules.ts';
import { reportsPolicy } from '../features/notifications/config.ts';
import { checksPolicy } from '../features/site-checks/worker.ts';

/** What each feature makes of the file. It adds methods of its own. */
const ofFeatures = (configuration: Configuration, places: Places) => ({
  ...freezesPolicy(configuration, places),
  ...checksPolicy(configuration),
  ...approvalsPolicy(configuration, places),
  ...reportsPolicy(configuration, places),
  ...gatesPolicy(configuration),
});

/** The sections that have rules: workers that apply the same ones have the same hash. */
export const RULES = ['freezes', 'windows', 'sites', 'checks', 'approvals', 'gates'] as const;

/** What must be there before a worker uses the file. They throw a ConfigError. */
const REQUIREMENTS: readonly ((configuration: Configuration) => Promise<void>)[] = [requireSigners, requireGates];

/** @throws ConfigError for something that the file needs and that cannot be used */
export async function requireAll(configuration: Configuration): Promise<void> {
  for (const require of REQUIREMENTS) await require(configuration);
}

export type Places = ReturnType<typeof placesIn>;

export interface Policy extends ReturnType<typeof ofFeatures> {
  /** The same for workers that apply the same rules. */
  hash: string;
  /** False: the file has changed since, and cannot be used. */
  isLatest: boolean;
  /** Why the inventory refuses such a run, with the keys that say so; null if it does not. */
  refusalOf: (asked: RunParts) => string | null;
}

export function policyOf(configuration: Configuration): Policy {
  const conflictOf = createInventoryCheck(configuration);
  return {
    hash: shortHash(configuration),
    isLatest: true,
    refusalOf: (asked) => {
      const found = conflictOf(asked);
      return found === null ? null : `the worker's belay.yaml (${plainText(found.path.join('.'))}): ${found.message}`;
    },
    ...ofFeatures(configuration, placesIn(configuration)),
  };
}

/** Where operations happen, by the inventory of the file. */
function placesIn({ fleets }: Configuration) {
  const { servers, placeOf } = buildInventory(fleets);
  const registeredPlace = (operation: PlannedOperation): Place => {
    const target = 'target' in operation ? operation.target : null;
    const registered = target === null ? undefined : placeOf(target)?.serverId;
    const serverIds = [registered, operation.serverId].filter((it) => it !== undefined);
    const server = serverIds.map((it) => servers.get(it)).find((it) => it !== undefined);
    return {
      targets: target === null ? (server?.targets ?? []) : [target],
      serverIds,
      fleet: server?.fleet ?? null,
      labels: server?.labels ?? {},
    };
  };
  // Both, one by one: a fleet that a run names may add what holds it back, and open no window.
  const of = (operation: PlannedOperation): Place[] => {
    const [place, { fleet = null }] = [registeredPlace(operation), operation];
    return fleet === null || fleet === place.fleet ? [place] : [place, { ...place, fleet }];
  };
  /** Whether an entry with this scope is for the operation. */
  const fit = (scope: Scope, operation: PlannedOperation) => of(operation).some((place) => isInScope(scope, place));
  return { of, fit };
}

const HASH_LENGTH = 12;

function shortHash({ fleets = {}, inventory, ...configuration }: Configuration): string {
  const servers = Object.entries(fleets).map(([name, fleet]) => [name, [...fleet.servers]]);
  const rules = RULES.map((section) => configuration[section] ?? {});
  return hashOf([servers, inventory ?? null, ...rules]).slice(0, HASH_LENGTH);
}
