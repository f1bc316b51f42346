/** Apps beside sites: their paths, names and locks. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./apps/apps.ts');
