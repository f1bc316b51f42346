/** Schedules in Temporal, and local time. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./schedules/index.ts');
