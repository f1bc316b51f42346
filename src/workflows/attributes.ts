/** The search attributes, where the worker says that the namespace has them. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Outcome } from '../contract.ts';

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
  /** What became of the last POST: accepted, without_effect, conflict, refused, ambiguous. */
  trigger?: string;
}

export function setAttributes(enabled: boolean, { sites, servers, phase, outcome, trigger }: Attributes): void {
  const pairs: SearchAttributePair[] = [];
  if (sites !== undefined && sites.length > 0) pairs.push({ key: KEYS.site, value: sites });
  if (servers !== undefined && servers.length > 0) pairs.push({ key: KEYS.server, value: servers });
  if (phase !== undefined) pairs.push({ key: KEYS.phase, value: phase });
  if (outcome !== undefined) pairs.push({ key: KEYS.outcome, value: outcome });
  if (trigger !== undefined) pairs.push({ key: KEYS.trigger, value: trigger });
  if (enabled && pairs.length > 0) upsertSearchAttributes(pairs);
}
