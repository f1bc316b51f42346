/** Whose deployment it is, and how failed reads affect a verdict. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./verdicts/index.ts');
