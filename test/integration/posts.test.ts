/** Every way a POST can end, with short budgets; production-timings.test.ts has a case with the real ones. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./posts/index.ts');
