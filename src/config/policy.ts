/** The policy of a worker: what its belay.yaml says about when to deploy. */
import type { Configuration } from './load.ts';
import type { FreezeConfig, WindowConfig } from '../features/freezes/config.ts';
import { holdToInventory, wordOnFreezes, type AskedPlace, buildInventory } from './inventory.ts';
import type { BlockedAction, FreezeScope, FreezeWord, FrozenBy, OverrideRule } from '../features/freezes/shapes.ts';
import { hashOf, freezeId } from '../contract/ids.ts';
import type { Target } from '../contract/target.ts';
import { plainText } from '../contract/safe-text.ts';
import { cronTimes } from '../request/calendar/cron-times.ts';
import { policyApprovals, type PolicyApproval } from '../features/approvals/worker-proofs.ts';
import { hostsOf, policyGate, type PolicyGate } from '../features/gates/worker.ts';
import {
  frozenBy,
  listFreezes,
  type ListedFreeze,
  type FreezeRule,
  type FreezeRules,
  type Place,
  type Scope,
  type WindowRule,
  isInScope,
} from '../features/freezes/worker-rules.ts';
import { localMsOf } from '../request/calendar/local-spans.ts';
import { siteChecks, type PolicyCheck } from '../features/site-checks/worker.ts';

/** A deployment, or the backup of a server. */
export type PlannedOperation = ({ target: Target; serverId?: string | undefined } | { serverId: string }) & {
  /** The one that the run names: what is for it holds as well, also where the file puts the server in another or none. */
  fleet?: string | undefined;
};

export interface Policy {
  /** The same for workers that apply the same rules. */
  hash: string;
  /** False: the file has changed since, and cannot be used. */
  isLatest: boolean;
  /** Why the inventory refuses such a run, with the keys that say so; null if it does not. */
  refusalOf: (asked: AskedPlace) => string | null;
  /** Whether an ad-hoc freeze would hold back what it names. */
  wordOn: (scope: FreezeScope) => FreezeWord;
  /** What of belay.yaml holds it back. */
  frozenBy: (operation: PlannedOperation, atMs: number, letOff?: ReadonlySet<string>) => FrozenBy[];
  /** What belay.yaml has. @param operation only what is for it; null for all */
  list: (operations: readonly PlannedOperation[], atMs: number) => ListedFreeze[];
  /** What of belay.yaml has this name, and whether a run may be let off. Null if nothing has. */
  overridable: (name: string) => Overridable | null;
  /** Workflow ids of the ad-hoc freezes that would hold it back. */
  adHocIds: (operation: PlannedOperation) => string[];
  /** Null if the site has none. */
  checkOf: (siteId: string) => PolicyCheck | null;
  /** Who has to approve a deployment; empty if no one. A backup alone needs no approval. */
  approvalsFor: (operation: PlannedOperation) => PolicyApproval[];
  /** Names of `notify.reports`. */
  reportsFor: (operation: PlannedOperation) => string[];
  /** Null if belay.yaml has none with this name. */
  approval: (name: string) => PolicyApproval | null;
  /** Null if belay.yaml has none with this name. */
  gate: (name: string) => PolicyGate | null;
  /** Of the sites that belay.yaml knows. */
  hostsOf: (siteIds: readonly string[]) => string[];
}

export const actionOf = (operation: PlannedOperation): BlockedAction => ('target' in operation ? 'deploy' : 'backup');

export function policyOf(configuration: Configuration): Policy {
  const rules = freezeRules(configuration);
  const placeOf = placesIn(configuration);
  // Both, one by one: a fleet that a run names may add what holds it back, and open no window.
  const placesOf = (operation: PlannedOperation): Place[] => {
    const [place, { fleet = null }] = [placeOf(operation), operation];
    return fleet === null || fleet === place.fleet ? [place] : [place, { ...place, fleet }];
  };
  const fits = (scope: Scope, operation: PlannedOperation) =>
    placesOf(operation).some((place) => isInScope(scope, place));
  const hold = holdToInventory(configuration);
  const checks = siteChecks(configuration);
  const approvals = policyApprovals(configuration);
  const reports = Object.entries(configuration.notify?.reports ?? {}).map(([name, it]) => ({
    name,
    scope: it.for ?? {},
  }));
  return {
    hash: shortHash(configuration),
    isLatest: true,
    refusalOf: (asked) => {
      const found = hold(asked);
      return found === null ? null : `the worker's belay.yaml (${plainText(found.path.join('.'))}): ${found.message}`;
    },
    wordOn: wordOnFreezes(configuration),
    frozenBy: (operation, atMs, letOff = new Set()) => {
      const asked = { action: actionOf(operation), letOff };
      const found = placesOf(operation).flatMap((place) => frozenBy(rules, asked, place, atMs));
      return [...new Map(found.map((it) => [`${it.kind}:${it.name}`, it])).values()];
    },
    overridable: (name) => overridable(rules, name),
    list: (operations, atMs) => listFreezes(rules, operations.flatMap(placesOf), atMs),
    adHocIds: (operation) => [...new Set(placesOf(operation).flatMap((place) => adHocIds(operation, place)))],
    checkOf: (siteId) => checks.get(siteId) ?? null,
    approvalsFor: (operation) => ('target' in operation ? approvals.filter(({ scope }) => fits(scope, operation)) : []),
    reportsFor: (operation) => reports.filter(({ scope }) => fits(scope, operation)).map(({ name }) => name),
    approval: (name) => approvals.find(({ rule }) => rule.name === name) ?? null,
    gate: (name) => policyGate(configuration, name),
    hostsOf: (siteIds) => hostsOf(configuration, siteIds),
  };
}

export interface Overridable {
  kind: 'freeze' | 'window';
  override: OverrideRule;
}

function overridable({ freezes, windows }: FreezeRules, name: string): Overridable | null {
  const freeze = freezes.find((it) => it.name === name);
  if (freeze !== undefined) return { kind: 'freeze', override: freeze.override };
  return windows.some((it) => it.name === name) ? { kind: 'window', override: 'reason' } : null;
}

/** A site has no backup, so only freezes of its server hold that back. */
function adHocIds(operation: PlannedOperation, { fleet, serverIds }: Place): string[] {
  const scopes: FreezeScope[] = [
    { kind: 'all' },
    ...(fleet === null ? [] : [{ kind: 'fleet' as const, id: fleet }]),
    ...serverIds.map((id) => ({ kind: 'server' as const, id })),
    ...('target' in operation ? [operation.target] : []),
  ];
  return [...new Set(scopes.map(freezeId))];
}

function freezeRules({ freezes = {}, windows = {} }: Configuration): FreezeRules {
  return {
    freezes: Object.entries(freezes).map(([name, config]) => freezeRule(name, config)),
    windows: Object.entries(windows).map(([name, config]) => windowRule(name, config)),
  };
}

function freezeRule(name: string, config: FreezeConfig): FreezeRule {
  const { timeZone = 'UTC', reason, blocks = ['deploy'], override = 'reason' } = config;
  return { name, when: { ...timesOf(config), timeZone }, scope: config.for ?? {}, reason, blocks, override };
}

function timesOf({ from = '', to = '', cron, lasts = 0 }: FreezeConfig) {
  if (cron !== undefined) return { times: cronTimes(cron), lastsMs: lasts };
  return { fromMs: localMsOf(from), toMs: localMsOf(to) };
}

function windowRule(name: string, config: WindowConfig): WindowRule {
  const { cron, lasts, timeZone = 'UTC', margin = 0 } = config;
  const when = { times: cronTimes(cron), lastsMs: lasts, timeZone };
  return { name, when, scope: config.for ?? {}, marginMs: margin };
}

function placesIn({ fleets }: Configuration): (operation: PlannedOperation) => Place {
  const { servers, placeOf } = buildInventory(fleets);
  return (operation) => {
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
}

const HASH_LENGTH = 12;

function shortHash({ fleets = {}, inventory, ...configuration }: Configuration): string {
  const { freezes = {}, windows = {}, sites = {}, checks = {}, approvals = {}, gates = {} } = configuration;
  const servers = Object.entries(fleets).map(([name, fleet]) => [name, [...fleet.servers]]);
  return hashOf([servers, inventory ?? null, freezes, windows, sites, checks, approvals, gates]).slice(0, HASH_LENGTH);
}
