/** The values of Belay's search attributes. Pure. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { SEARCH_ATTRIBUTES, type Outcome } from '../contract/names.ts';
import type { RunInput } from '../contract/run.ts';
import { targetAttribute, targetsOf } from '../contract/target.ts';

export const ATTRIBUTE_KEYS = {
  site: defineSearchAttributeKey('BelaySite', SEARCH_ATTRIBUTES.BelaySite),
  server: defineSearchAttributeKey('BelayServer', SEARCH_ATTRIBUTES.BelayServer),
  phase: defineSearchAttributeKey('BelayPhase', SEARCH_ATTRIBUTES.BelayPhase),
  outcome: defineSearchAttributeKey('BelayOutcome', SEARCH_ATTRIBUTES.BelayOutcome),
  trigger: defineSearchAttributeKey('BelayTrigger', SEARCH_ATTRIBUTES.BelayTrigger),
};

export interface Attributes {
  sites?: string[];
  servers?: string[];
  phase?: string;
  /** Null until there is an outcome. */
  outcome?: Outcome | null;
  /** The result of the last POST: accepted, no_effect, held_back, conflict, refused, reset or ambiguous. */
  trigger?: string | undefined;
}

/**
 * Temporal's limit for one attribute, minus the encoding overhead. Temporal terminates a workflow that exceeds the
 * limit.
 */
const MAX_VALUE_BYTES = 2_000;

export function attributePairs({ sites, servers, phase, outcome, trigger }: Attributes): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  if (sites !== undefined && sites.length > 0) pairs.push({ key: ATTRIBUTE_KEYS.site, value: fitting(sites) });
  if (servers !== undefined && servers.length > 0) pairs.push({ key: ATTRIBUTE_KEYS.server, value: fitting(servers) });
  if (phase !== undefined) pairs.push({ key: ATTRIBUTE_KEYS.phase, value: phase });
  if (outcome !== undefined && outcome !== null) pairs.push({ key: ATTRIBUTE_KEYS.outcome, value: outcome });
  if (trigger !== undefined) pairs.push({ key: ATTRIBUTE_KEYS.trigger, value: trigger });
  return pairs;
}

/** A starting run has no phase, because a worker that sets no attributes would never change it. */
export const attributesOfRun = (input: RunInput): Attributes => ({
  sites: targetsOf(input).map(targetAttribute),
  servers: input.serverId === undefined ? [] : [input.serverId],
});

/** Keeps the first ids, up to the limit. */
function fitting(ids: string[]): string[] {
  let bytes = 0;
  return ids.filter((id) => (bytes += utf8ToBytes(JSON.stringify(id)).length + 1) <= MAX_VALUE_BYTES);
}
