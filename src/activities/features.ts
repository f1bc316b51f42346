/** What the features of a worker add to its core: facts about requests that begin, and permits of requests that leave. */
import { approvalPermit, approvalsFact } from '../features/approvals/worker.ts';
import type { Fact } from './fact.ts';
import { freezePermit, freezesFact } from '../features/freezes/worker.ts';
import { gatesFact } from '../features/gates/worker.ts';
import type { Permit } from './post-checks.ts';
import { reportsFact } from '../features/reports/worker.ts';
import { checksFact } from '../features/site-checks/worker.ts';

/** No answer depends on another one. The first misuse is the message. */
export const FACTS: readonly Fact[] = [freezesFact, approvalsFact, gatesFact, checksFact, reportsFact];

/** All are asked at the same time. The first one that refuses is the message, so a freeze beats an approval. */
export const PERMITS: readonly Permit[] = [freezePermit, approvalPermit];
