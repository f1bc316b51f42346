/** Which service a run is for, and what happens when Temporal's database goes back in time. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./services/index.ts');
