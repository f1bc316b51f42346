/**
 * The features that hang on runs, operations and rollouts. The order of a list decides how Belay behaves:
 * test/unit/features.test.ts keeps it, and says what another order would change.
 */
import { approvalHold } from '../features/approvals/workflow.ts';
import { freezeHold } from '../features/freezes/hold.ts';
import { announcing, reporting } from '../features/notifications/observers.ts';
import type { OperationHooks } from './operation/hooks.ts';
import { operationPage } from '../features/pages/operation.ts';
import { runPage } from '../features/pages/run.ts';
import { siteCheck, siteChecks } from '../features/site-checks/check.ts';
import { approvedServers, frozenServers } from '../features/rollouts/before-server.ts';
import { gatedWaves } from '../features/gates/wave.ts';
import type { RolloutHooks } from '../features/rollouts/hooks.ts';
import type { RunHooks } from './run/hooks.ts';
import { endForNewerRun, settleForNewerRuns, supersedingHold } from '../features/superseding/hold.ts';

/**
 * Superseding comes first, so that a run that waits for a freeze has already replaced the older ones that wait for it. It
 * does nothing while people still have to decide, and its turn comes again after they have. Freezes come before approvals,
 * so that nobody is asked about what a freeze forbids. Once people have approved, the freezes are asked again.
 */
const HOLDS: RunHooks['holds'] = [supersedingHold, freezeHold, approvalHold];

/** A report of the end leaves before the notification, so that whoever reads the notification finds the report. */
const OBSERVERS: RunHooks['observers'] = [runPage, reporting, announcing];

export const ON_RUNS: RunHooks = { holds: HOLDS, checks: [siteChecks], observers: OBSERVERS };

/** A wave bakes and its gates are measured before anybody is asked about the next one. */
export const ON_ROLLOUTS: RolloutHooks = {
  afterWave: [gatedWaves],
  // Freezes come last, because one may have begun while people decided.
  beforeServer: [approvedServers, frozenServers],
};

export const ON_OPERATIONS: OperationHooks = {
  checks: [siteCheck],
  observers: [operationPage],
  settleQueue: settleForNewerRuns,
  endings: [endForNewerRun],
};
