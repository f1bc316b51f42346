/** Bundles the workflows from source for tests, with the time budgets of the test. */
import { bundleFromSource } from '../../src/worker/bundle/bundle-from-source.ts';
import { replacements } from './timing/substitute.ts';

let bundled: Promise<string> | undefined;

/** Bundles once per state of the source and profile, shared by all processes. A process keeps what it found first. */
export const testBundle = async (): Promise<{ codePath: string }> => ({
  codePath: await (bundled ??= bundleFromSource(replacements())),
});
