/** The rules of runs, in virtual time and with the time budgets of production. */
import './rules/evidence.ts';
import './rules/acceptance.ts';
import './rules/min-evidence.ts';
import './rules/doubtful-answers.ts';
import './rules/reads.ts';
import './rules/outages.ts';
import './rules/post-ends.ts';
import './rules/locks.ts';
import './rules/shared-backups.ts';
import './rules/lock-faults.ts';
import './rules/many-waiters.ts';
import './rules/runs.ts';
import './rules/deadlines.ts';
import './rules/backup-age.ts';
import './rules/waiting.ts';
import './rules/why.ts';
import './rules/rate-limits.ts';
