/** The gates of a policy, ready to be measured. */
import { checkAddress, secretSource, type SecretRef } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { GateConfig } from './config.ts';
import { gatePace } from './check-gates.ts';
import type { GatePlan, GateRule } from './shapes.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import { hashOf } from '../../contract/hash-of.ts';
import { measure, wordsIn, type GetPage, type Place, type Word } from './worker-measure.ts';
import { headersSource } from '../../config/file/request-headers.ts';

type Words = Parameters<typeof measure>[1];

export interface PolicyGate {
  plan: GatePlan;
  /** Reads the address and what goes with it again. @throws ConfigError if one is missing. It names the place only. */
  place: () => Promise<Place>;
}

const HASH_LENGTH = 12;

export const policyGate = ({ gates = {} }: Configuration, name: string): PolicyGate | null => {
  const gate = ownEntry(gates, name);
  return gate === undefined ? null : { plan: planOf(name, gate), place: () => placeOf(name, gate) };
};

function planOf(name: string, gate: GateConfig): GatePlan {
  const { initialDelay = 0, failures = 0, dryRun = false } = gate;
  const { interval: intervalMs, tries, inARow } = gatePace(gate);
  const rule = ruleOf(gate);
  return {
    ...{ name, rule, ruleHash: hashOf(rule).slice(0, HASH_LENGTH), words: wordsOf(rule) },
    ...{ initialDelayMs: initialDelay, intervalMs, tries, inARow, failures, dryRun },
  };
}

/** Which keys go together was checked when the file was read. */
function ruleOf({ query, min, max, atLeast, ...gate }: GateConfig): GateRule {
  const limits = definedFields({ min, max });
  if (query !== undefined) {
    const amount = atLeast?.query === undefined ? undefined : { query: atLeast.query, min: atLeast.min };
    return { kind: 'prometheus', query, ...limits, ...definedFields({ atLeast: amount }) };
  }
  const { status, header, body, json, value } = gate;
  const amount = atLeast?.value === undefined ? undefined : { value: atLeast.value, min: atLeast.min };
  return {
    kind: 'http',
    ...definedFields({ status, header, body, json, value }),
    ...limits,
    ...definedFields({ atLeast: amount }),
  };
}

async function placeOf(name: string, { prometheus, url, token, requestHeaders = {} }: GateConfig): Promise<Place> {
  const key = `gates.${name}`;
  const address =
    prometheus === undefined ? await addressOf(`${key}.url`, url!) : await addressOf(`${key}.prometheus`, prometheus);
  const bearer = token === undefined ? null : await secretSource(`${key}.token`, token)();
  const headers = await headersSource(`${key}.requestHeaders`, requestHeaders)();
  return { address, headers: bearer === null ? headers : { ...headers, authorization: `Bearer ${bearer}` } };
}

/** A plain address is in the open anyway, and what is measured often has no TLS. */
const addressOf = async (key: string, address: string | SecretRef): Promise<string> =>
  typeof address === 'string' ? address : checkAddress(key, await secretSource(key, address)());

/** What the queries of a gate speak of. */
const wordsOf = (rule: GateRule): Word[] =>
  rule.kind === 'prometheus'
    ? [...new Set([rule.query, ...(rule.atLeast === undefined ? [] : [rule.atLeast.query])].flatMap(wordsIn))]
    : [];

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
