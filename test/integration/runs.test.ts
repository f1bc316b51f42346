/**
 * A run from its input to its result: every way a POST can end, locks and shared backups, apps beside sites, whose
 * deployment it is, how failed reads affect a verdict, keys, options, resets, waiting. More of it is tested in
 * test/sim/rules/.
 */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./runs/index.ts');
