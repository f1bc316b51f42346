/** Every mutant that a single test notices. */
import { APPROVALS } from './approvals.ts';
import { BAD_WORKER } from './bad-worker.ts';
import { GATES } from './gates.ts';
import { FREEZES } from './freezes.ts';
import { RATE_LIMITS } from './rate-limits.ts';
import { READABLE_PAYLOADS } from './readable-payloads.ts';
import { REPORTS } from './reports.ts';
import { RIGHT_TIME } from './right-time.ts';
import { SUPERSEDING } from './superseding.ts';
import { WRONG_VERDICTS } from './wrong-verdicts.ts';

export const TESTED_MUTANTS = [
  ...WRONG_VERDICTS,
  ...RIGHT_TIME,
  ...FREEZES,
  ...SUPERSEDING,
  ...APPROVALS,
  ...GATES,
  ...BAD_WORKER,
  ...RATE_LIMITS,
  ...READABLE_PAYLOADS,
  ...REPORTS,
];
