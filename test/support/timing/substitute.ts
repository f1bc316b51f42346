/**
 * Short time budgets for the tests of this process, in the workflows as well. A test file calls `useTiming` first, and
 * imports what it tests after that, because a loaded module keeps its budgets.
 */
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Replacement } from '../../../src/worker/bundle/bundle-from-source.ts';

const REAL = new URL('../../../src/contract/budgets/timing.ts', import.meta.url);

const inUse: Replacement[] = [];

/** Each is a file of this folder. */
export const PROFILES = ['short', 'hanging'] as const;
type Profile = (typeof PROFILES)[number];

const urlOf = (profile: Profile) => new URL(`./${profile}.ts`, import.meta.url);

export function useTiming(profile: Profile): void {
  register('./resolve-hook.js', import.meta.url, { data: { from: REAL.href, to: urlOf(profile).href } });
  inUse.push(replacementFor(profile));
}

export const replacementFor = (profile: Profile): Replacement => ({
  from: fileURLToPath(REAL),
  to: fileURLToPath(urlOf(profile)),
});

/** Modules that replace modules of the workflows. */
export const replacements = (): readonly Replacement[] => inUse;
