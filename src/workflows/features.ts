/**
 * The features that hang on runs, operations and rollouts. The order of a list is behavior: test/unit/features.test.ts keeps it, and
 * says what would change.
 */
import { approvalHold } from '../features/approvals/workflow.ts';
import { freezeHold } from '../features/freezes/hold.ts';
import { announcing, reporting } from '../features/notifications/observers.ts';
import type { OperationHooks } from './operation/hooks.ts';
import { operationPage } from '../features/pages/operation.ts';
import { runPage } from '../features/pages/run.ts';
import { siteCheck, siteChecks } from '../features/site-checks/check.ts';
import { approvedServers, frozenServers } from '../features/rollouts/held-servers.ts';
import { gatedWaves } from '../features/gates/wave.ts';
import type { RolloutHooks } from '../features/rollouts/hooks.ts';
import type { RunHooks } from './run/hooks.ts';
import { endForNewerRun, settleForNewerRuns, supersedingHold } from '../features/superseding/hold.ts';

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
  observers: [operationPage],
  settleQueue: settleForNewerRuns,
  endings: [endForNewerRun],
};
