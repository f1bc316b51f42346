/**
 * The features that hang on runs, operations and rollouts. The order of a list decides how Belay behaves:
 * test/unit/features.test.ts keeps it, and says what another order would change.
 */
import { approvalHold } from '../features/approvals/workflow.ts';
import { freezeHold } from '../features/freezes/hold.ts';
import { approvedServers } from '../features/approvals/rollout.ts';
import { announcing, announcingRollout, reporting } from '../features/notifications/observers.ts';
import type { OperationHooks } from './operation/hooks.ts';
import { operationPage } from '../features/pages/operation.ts';
import { runPage } from '../features/pages/run.ts';
import { checkedServers, siteCheck, siteChecks } from '../features/site-checks/check.ts';
import { frozenServers } from '../features/freezes/rollout.ts';
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

/** Freezes come after approvals, because one may have begun while people decided. */
export const ON_ROLLOUTS: RolloutHooks = [
  checkedServers,
  gatedWaves,
  approvedServers,
  frozenServers,
  announcingRollout,
];

export const ON_OPERATIONS: OperationHooks = {
  checks: [siteCheck],
  observers: [operationPage],
  settleQueue: settleForNewerRuns,
  endings: [endForNewerRun],
};
