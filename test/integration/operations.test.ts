/**
 * Every way a POST can end, locks and shared backups, apps beside sites, whose deployment it is, and how failed reads
 * affect a verdict. More of it is tested in test/sim/rules/.
 */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./operations/index.ts');
