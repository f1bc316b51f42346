/**
 * Temporal as others set it up: behind a front that refuses calls and limits them, with encryption, and with versions of
 * workers.
 */
import { useTiming } from '../support/timing/substitute.ts';

useTiming('short');
await import('./temporal/index.ts');
