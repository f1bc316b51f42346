/** The rules that the reads of an operation decide, once more with reads that a worker makes in its pool. */
import { usePooledWaits } from '../stack/usual-input.ts';
import '../rules/verdicts/evidence.ts';
import '../rules/verdicts/acceptance.ts';
import '../rules/verdicts/min-evidence.ts';
import '../rules/verdicts/doubtful-answers.ts';
import '../rules/answers/reads.ts';
import '../rules/answers/outages.ts';
import '../rules/answers/rate-limits.ts';
import '../rules/locks/shared-backups.ts';
import '../rules/runs/waiting.ts';
import '../rules/runs/learned-polling.ts';
import '../rules/events/wakes.ts';
import '../rules/events/claims.ts';
import '../rules/events/foreign-backups.ts';

usePooledWaits();
