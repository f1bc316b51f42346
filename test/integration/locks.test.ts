/** Locks, sharing, and what happens when a holder or waiter is lost. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./locks/index.ts');
