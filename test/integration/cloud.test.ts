/** Behind a front that refuses calls and limits them, as Temporal Cloud does. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./cloud/index.ts');
