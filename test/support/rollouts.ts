/** Rollouts of a test: servers with sites, at a quick pace. */
import assert from 'node:assert/strict';
import type { RolloutInput, RolloutResult, RolloutTarget } from '../../src/features/rollouts/shapes.ts';
import { BelayError } from '../../src/contract/errors.ts';
import type { Rollout } from '../../src/features/rollouts/client-handle.ts';
import { fresh } from './fresh.ts';

const PACE = { intervalMs: 200, tries: 1_000 };

/** A server whose targets are sites. */
export type ServerOfSites = RolloutTarget & { siteIds: string[] };

/** `count` servers with `sites` sites each. */
export function servers(count: number, sites = 1): [ServerOfSites, ...ServerOfSites[]] {
  const all = Array.from({ length: count }, () => ({
    serverId: fresh('s'),
    siteIds: Array.from({ length: sites }, () => fresh('a')),
  }));
  return all as [ServerOfSites, ...ServerOfSites[]];
}

/** A rollout of two servers at once that tolerates no failure. */
export function rolloutOf(targets: RolloutTarget[], more: Partial<RolloutInput> = {}): RolloutInput {
  return {
    name: 'steady',
    fleet: 'shop',
    key: fresh('k'),
    waves: [{ name: 'all', targets }],
    maxAtOnce: 2,
    maxFailures: 0,
    onFailures: 'stop',
    options: { backup: PACE, deploy: PACE },
    ...more,
  };
}

/** The result of a rollout, whatever its outcome. */
export async function endOf(rollout: Rollout): Promise<RolloutResult> {
  return rollout.result().catch((error: unknown) => {
    assert.ok(error instanceof BelayError && error.rollout !== null, String(error));
    return error.rollout;
  });
}

export const outcomesOf = ({ targets }: RolloutResult) => targets.map(({ outcome }) => outcome);
