/** Reads that hang forever, and everything else, which must continue. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('hanging');
await import('./starvation/starvation.ts');
