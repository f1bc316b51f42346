/** The rules that the reads of an operation decide, once more with reads that a worker makes in its pool. */
import { usePooledWaits } from '../stack/usual-input.ts';
import '../rules/verdicts/evidence.test.ts';
import '../rules/verdicts/acceptance.test.ts';
import '../rules/verdicts/min-evidence.test.ts';
import '../rules/verdicts/doubtful-answers.test.ts';
import '../rules/answers/reads.test.ts';
import '../rules/answers/outages.test.ts';
import '../rules/answers/rate-limits.test.ts';
import '../rules/locks/shared-backups.test.ts';
import '../rules/runs/waiting.test.ts';
import '../rules/events/wakes.test.ts';
import '../rules/events/claims.test.ts';
import '../rules/events/foreign-backups.test.ts';

usePooledWaits();
