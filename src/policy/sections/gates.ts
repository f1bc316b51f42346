/** The gates of a policy, ready to be measured. */
import { checkAddress, secretSource } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { GateConfig } from '../../config/file/gate-schema.ts';
import { gatePace } from '../../config/plan/check-gates.ts';
import type { GatePlan, GateRule } from '../../contract/gate.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import { hashOf } from '../../contract/ids/hash-of.ts';
import { measure, wordsIn, type GetPage, type Word } from '../../gates/index.ts';

type Words = Parameters<typeof measure>[1];

export interface PolicyGate {
  plan: GatePlan;
  /** Reads the address and the token again. @throws ConfigError if one is missing. It names the place only. */
  place: () => Promise<{ address: string; headers: Record<string, string> }>;
}

const HASH_LENGTH = 12;

export const policyGate = ({ gates = {} }: Configuration, name: string): PolicyGate | null => {
  const gate = ownEntry(gates, name);
  return gate === undefined ? null : { plan: planOf(name, gate), place: () => placeOf(name, gate) };
};

function planOf(name: string, gate: GateConfig): GatePlan {
  const { query, min, max, atLeast, initialDelay = 0, failures = 0, dryRun = false } = gate;
  const { interval: intervalMs, tries, inARow } = gatePace(gate);
  return {
    ...{ name, query, ...definedFields({ min, max, atLeast }) },
    ...{ initialDelayMs: initialDelay, intervalMs, tries, inARow, failures, dryRun },
    words: [...wordsOf(gate)],
    queryHash: hashOf([query, atLeast ?? null]).slice(0, HASH_LENGTH),
  };
}

async function placeOf(name: string, { prometheus, token }: GateConfig) {
  const key = `gates.${name}.prometheus`;
  // A plain address is in the open anyway, and Prometheus often has no TLS.
  const address =
    typeof prometheus === 'string' ? prometheus : checkAddress(key, await secretSource(key, prometheus)());
  const bearer = token === undefined ? null : await secretSource(`gates.${name}.token`, token)();
  return { address, headers: bearer === null ? {} : { authorization: `Bearer ${bearer}` } };
}

/** What the queries of a gate speak of. */
const wordsOf = ({ query, atLeast }: Pick<GateConfig, 'query' | 'atLeast'>): Set<Word> =>
  new Set([query, ...(atLeast === undefined ? [] : [atLeast.query])].flatMap(wordsIn));

/** The hosts of sites that belay.yaml knows. */
export const hostsOf = ({ sites = {} }: Configuration, siteIds: readonly string[]): string[] => [
  ...new Set(
    siteIds.flatMap((id) => {
      const site = ownEntry(sites, id);
      return site === undefined ? [] : [new URL(site.url).hostname];
    }),
  ),
];

/** @param rule as it was recorded, so that a rollout in flight keeps its numbers */
export async function measureGate(
  { place }: PolicyGate,
  rule: GateRule,
  words: Words,
  getPage: GetPage,
): ReturnType<typeof measure> {
  return measure(rule, words, await place(), getPage);
}
