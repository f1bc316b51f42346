/** Stacks for suites that are about runs only: suites of one process whose sandboxes have the same defaults share one. */
import { startTestStack, type TestStack, type WorldOptions } from './world.ts';

const started = new Map<string, Promise<TestStack>>();

/** The tests of these suites use names of their own, and let the service hold back no request. */
export function sharedStack(defaults: NonNullable<WorldOptions['defaults']> = {}): Promise<TestStack> {
  const key = JSON.stringify(defaults);
  const stack = started.get(key) ?? startTestStack({ defaults });
  started.set(key, stack);
  return stack;
}
