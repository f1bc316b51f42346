/** A run from its input to its result: keys, options, resets, waiting. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./runs/index.ts');
