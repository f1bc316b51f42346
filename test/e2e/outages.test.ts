/** Commands and workers while Temporal, the service or the workers are away. */
import './outages/worker-start.ts';
import './outages/worker-monitoring.ts';
import './outages/killed-worker.ts';
import './outages/site-checks.ts';
import './outages/absent-temporal.ts';
