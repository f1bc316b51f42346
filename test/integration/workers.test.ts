/** Workers that are killed, stopped, away or unfit around a POST. Their processes run the build, so all budgets are real. */
import './workers/stalled-workers.ts';
import './workers/lost-workers.ts';
import './workers/unfit-workers.ts';
import '../support/replay-tests.ts';
