/** Every way a POST can end, locks and shared backups, and apps beside sites. More of it is tested in test/sim/rules/. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./operations/index.ts');
