/** What Temporal's database contains with encryption, and who can read it. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./encryption/index.ts');
