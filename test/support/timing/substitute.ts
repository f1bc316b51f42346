/**
 * Other time budgets for the tests of this process, in the workflows as well. A profile is the first import of a test
 * file, because a module that is loaded earlier may have computed with the real ones.
 */
import { fileURLToPath } from 'node:url';
import { TIMING } from '../../../src/contract/timing.ts';
import type { Replacement } from '../../../src/worker/bundle/bundle-from-source.ts';

const REAL = new URL('../../../src/contract/timing.ts', import.meta.url);

/** Each is a file of this folder. */
export const PROFILES = ['short', 'hanging', 'patient'] as const;
type Profile = (typeof PROFILES)[number];

let inUse: Profile | null = null;

/** @throws Error if the process has another profile: its modules may have computed with those budgets */
export function useTiming(profile: Profile, budgets: typeof TIMING): void {
  if (inUse !== null && inUse !== profile) throw new Error(`this process has the time budgets "${inUse}" already`);
  inUse = profile;
  for (const [group, values] of Object.entries(budgets)) Object.assign(TIMING[group as keyof typeof TIMING], values);
}

export const replacementFor = (profile: Profile): Replacement => ({
  from: fileURLToPath(REAL),
  to: fileURLToPath(new URL(`./${profile}.ts`, import.meta.url)),
});

/** Modules that replace modules of the workflows. */
export const replacements = (): readonly Replacement[] => (inUse === null ? [] : [replacementFor(inUse)]);
