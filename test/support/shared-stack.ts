/** Stacks for suites that are about runs only: suites of one process whose sandboxes have the same defaults share one. */
import { COMPLETED } from './sites.ts';
import { startTestStack, type TestStack, type WorldOptions } from './world.ts';

/** Most tests are not about how long the service takes. */
const QUICK = { backup: { durationMs: 300 }, deployment: { durationMs: 300 } };

const started = new Map<string, Promise<TestStack>>();

/** The tests of these suites use names of their own, and let the service hold back no request. */
export function sharedStack(defaults: NonNullable<WorldOptions['defaults']> = QUICK): Promise<TestStack> {
  const key = JSON.stringify(defaults);
  const stack = started.get(key) ?? startTestStack({ defaults });
  started.set(key, stack);
  return stack;
}

/**
 * For suites, one after another, whose service tells the worker to hold its requests back. Backups complete at once, as
 * far as a suite does not say otherwise.
 */
export const heldBackStack = () => sharedStack({ backup: COMPLETED });
