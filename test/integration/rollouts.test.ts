/** Fleets and their rollouts. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./rollouts/index.ts');
