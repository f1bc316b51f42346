/** The values of Belay's search attributes. Pure. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import type { Outcome } from '../contract/names.ts';
import type { RunInput } from '../contract/run.ts';
import { targetAttribute, targetsOf } from '../contract/target.ts';

const KEYS = {
  site: defineSearchAttributeKey('BelaySite', 'KEYWORD_LIST'),
  server: defineSearchAttributeKey('BelayServer', 'KEYWORD_LIST'),
  phase: defineSearchAttributeKey('BelayPhase', 'KEYWORD'),
  outcome: defineSearchAttributeKey('BelayOutcome', 'KEYWORD'),
  trigger: defineSearchAttributeKey('BelayTrigger', 'KEYWORD'),
};

export interface Attributes {
  sites?: string[];
  servers?: string[];
  phase?: string;
  outcome?: Outcome;
  /** Result of the last POST: accepted, no_effect, held_back, conflict, refused, reset or ambiguous. */
  trigger?: string;
}

/** Temporal's limit for one attribute, minus the encoding overhead. Temporal terminates a workflow that exceeds it. */
const MAX_VALUE_BYTES = 2_000;

export function attributePairs({ sites, servers, phase, outcome, trigger }: Attributes): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  if (sites !== undefined && sites.length > 0) pairs.push({ key: KEYS.site, value: fitting(sites) });
  if (servers !== undefined && servers.length > 0) pairs.push({ key: KEYS.server, value: fitting(servers) });
  if (phase !== undefined) pairs.push({ key: KEYS.phase, value: phase });
  if (outcome !== undefined) pairs.push({ key: KEYS.outcome, value: outcome });
  if (trigger !== undefined) pairs.push({ key: KEYS.trigger, value: trigger });
  return pairs;
}

/** Of a run that begins. It has no phase: a worker that sets no attributes would leave it as it is. */
export const attributesOfRun = (input: RunInput): Attributes => ({
  sites: targetsOf(input).map(targetAttribute),
  servers: input.serverId === undefined ? [] : [input.serverId],
});

/** The first ids, up to the limit. */
function fitting(ids: string[]): string[] {
  let bytes = 0;
  return ids.filter((id) => (bytes += utf8ToBytes(JSON.stringify(id)).length + 1) <= MAX_VALUE_BYTES);
}
