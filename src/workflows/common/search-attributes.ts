/** Sets search attributes, if the worker reports that the namespace has them. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Outcome } from '../../contract/names.ts';
import type { RunInput } from '../../contract/run.ts';
import { targetAttribute, targetsOf } from '../../contract/target.ts';

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

/** The first ids, up to the limit. */
function fitting(ids: string[]): string[] {
  let bytes = 0;
  return ids.filter((id) => (bytes += utf8ToBytes(JSON.stringify(id)).length + 1) <= MAX_VALUE_BYTES);
}

/** Of a run that is checked. */
export const attributesOfRun = (input: RunInput): Attributes => ({
  sites: targetsOf(input).map(targetAttribute),
  servers: input.serverId === undefined ? [] : [input.serverId],
  phase: 'checking',
});

/** Sets what differs from what the workflow has: each change is an event and a billed action. */
export function setAttributes(enabled: boolean, attributes: Attributes): void {
  if (!enabled) return;
  const { typedSearchAttributes: before } = workflowInfo();
  const changed = pairsOf(attributes).filter(
    ({ key, value }) => JSON.stringify(before.get<typeof key.type>(key)) !== JSON.stringify(value),
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** What a child has from its start on, which costs neither an event nor an action. */
export const startAttributes = (enabled: boolean, attributes: Attributes) =>
  enabled ? { typedSearchAttributes: pairsOf(attributes) } : {};

function pairsOf({ sites, servers, phase, outcome, trigger }: Attributes): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  if (sites !== undefined && sites.length > 0) pairs.push({ key: KEYS.site, value: fitting(sites) });
  if (servers !== undefined && servers.length > 0) pairs.push({ key: KEYS.server, value: fitting(servers) });
  if (phase !== undefined) pairs.push({ key: KEYS.phase, value: phase });
  if (outcome !== undefined) pairs.push({ key: KEYS.outcome, value: outcome });
  if (trigger !== undefined) pairs.push({ key: KEYS.trigger, value: trigger });
  return pairs;
}
