/** What a site shows before a scenario deploys it, and how the service answers then. */
import type { Fault } from '../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../src/sandbox/script.ts';
import { FAILED } from '../support/sites.ts';
import type { Stage } from './stage.ts';

const NEXT: ScriptPart = { durationMs: 1_200, ends: 'completed' };
const BEFORE = 'aaaaaaa';
export const OURS = '3f2c1ab';
/** Times of a fault. */
export const FOREVER = 10_000;

/** A site whose last deployment failed, so that the next one that completes is a change. */
export function failedBefore({ sandbox }: Stage, site: string, next: ScriptPart = {}): void {
  sandbox.script({ site }, FAILED, { ...NEXT, ...next });
  sandbox.act({ site });
}

/** Its last deployment that completed had another commit, and the last one failed. */
export function committedBefore({ sandbox }: Stage, site: string, next: ScriptPart = {}): void {
  sandbox.script({ site }, { durationMs: 0, commit: BEFORE }, FAILED, { ...NEXT, commit: OURS, ...next });
  sandbox.act({ site });
  sandbox.act({ site });
}

export const failing =
  (...faults: Omit<Fault, 'target'>[]) =>
  (stage: Stage, site: string): void => {
    failedBefore(stage, site);
    stage.sandbox.fault(...faults.map((it) => ({ ...it, target: site })));
  };

export const status = (code: number, retryAfter?: string) =>
  ({ kind: 'status', code, ...(retryAfter === undefined ? {} : { retryAfter }) }) as const;
