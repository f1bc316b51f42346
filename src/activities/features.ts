/** What the features of a worker add to its core: activities, facts about requests that begin, permits of requests that leave. */
import {
  approvalPermit,
  approvalsFact,
  createApprovalActivities,
  type ApprovalJudge,
} from '../features/approvals/worker.ts';
import type { ActivityDeps } from './deps.ts';
import type { Fact } from './fact.ts';
import { createFreezeActivities, freezePermit, freezesFact, type FreezeJudge } from '../features/freezes/worker.ts';
import { createGates, gatesFact } from '../features/gates/worker.ts';
import type { Permit } from './post-checks.ts';
import { reportsFact } from '../features/notifications/worker-reports.ts';
import { checksFact, createSiteChecks } from '../features/site-checks/worker.ts';

/** Their names and payloads are stored in histories. */
export const featureActivities = (deps: ActivityDeps) => ({
  ...createSiteChecks(deps),
  ...createGates(deps),
  ...createFreezeActivities(deps),
  ...createApprovalActivities(deps),
});

/** What facts and permits ask. */
export interface Judges {
  freezes: FreezeJudge;
  approvals: ApprovalJudge;
}

/** No answer depends on another one. The first misuse becomes the message. */
export const FACTS: readonly Fact[] = [freezesFact, approvalsFact, gatesFact, checksFact, reportsFact];

/** All permits are asked at the same time. The first refusal becomes the message, so a freeze beats an approval. */
export const PERMITS: readonly Permit[] = [freezePermit, approvalPermit];
