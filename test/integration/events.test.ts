/** Webhooks and what they cause. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./events/index.ts');
