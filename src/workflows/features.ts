/**
 * The features that hang on runs, operations and rollouts. The order of a list is behavior: test/unit/features.test.ts keeps it, and
 * says what would change.
 */
import { approvalHold } from './approval/hold.ts';
import { runPage } from './run/state/run-details.ts';
import { freezeHold } from './freeze/hold.ts';
import { announcing, reporting } from './notify/observers.ts';
import type { OperationHooks } from './operation/hooks.ts';
import { siteCheck } from './operation/site-check.ts';
import { approvedServers } from './rollout/approved-servers.ts';
import { frozenServers } from './rollout/frozen-servers.ts';
import { gatedWaves } from './rollout/gated-waves.ts';
import type { RolloutHooks } from './rollout/hooks.ts';
import type { RunHooks } from './run/state/hooks.ts';
import { siteChecks } from './site-check/checks.ts';
import { endForNewerRun, settleForNewerRuns, supersedingHold } from './superseding/hold.ts';

/**
 * Superseding comes first, so that a run that waits for a freeze has replaced the older ones that wait for it, too. While
 * people still have to decide, it lets the others go first. Freezes come before approvals: nobody is asked about what a
 * freeze forbids, and once people have approved, freezes are asked about again.
 */
const HOLDS: RunHooks['holds'] = [supersedingHold, freezeHold, approvalHold];

/** A report of the end leaves before the notification: who reads that finds the report. */
const OBSERVERS: RunHooks['observers'] = [runPage, reporting, announcing];

export const ON_RUNS: RunHooks = { holds: HOLDS, checks: [siteChecks], observers: OBSERVERS };

/** A wave bakes and its gates are measured before anybody is asked about the next one. */
export const ON_ROLLOUTS: RolloutHooks = {
  afterWave: [gatedWaves],
  // Nobody begins in a freeze that came while people decided.
  beforeServer: [approvedServers, frozenServers],
};

export const ON_OPERATIONS: OperationHooks = {
  checks: [siteCheck],
  settleQueue: settleForNewerRuns,
  endings: [endForNewerRun],
};
