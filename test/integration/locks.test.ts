/** Locks and shared backups against a real Temporal server. Their rules are tested in virtual time, in test/sim/rules/. */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./locks/index.ts');
