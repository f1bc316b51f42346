/**
 * The check of a site after its deployment: whether the site does what belay.yaml expects, and which commit it shows.
 * Histories store these shapes: add, never rename or remove.
 */
import type { FactName } from '../../contract/facts.ts';

/** The check of a site in the worker's belay.yaml, as recorded when the run begins. */
export interface CheckPlan {
  siteId: string;
  /** The name in belay.yaml. */
  name: string;
  intervalMs: number;
  tries: number;
  /** How many good reads in a row the check needs. */
  inARow: number;
  /** Whether the check says where the site shows its commit. */
  showsCommit: boolean;
}

/** Exempts a run from the checks of its sites. */
export interface CheckWaiver {
  reason: string;
  /** Who decides. Default: who uses the connection. */
  by?: string;
}

export interface SiteReadInput {
  service: string;
  siteId: string;
  check: string;
}

/** What a site answered. It contains nothing of the body or the headers, except for what `why` quotes. */
export interface SiteRead {
  /** `holds`: all expectations hold. `fails`: the site answered otherwise. `nothing`: the site gave no answer. */
  kind: 'holds' | 'fails' | 'nothing';
  httpStatus: number | null;
  /** 7 to 64 hex digits in lower case. Null if the site shows no commit. */
  commit: string | null;
  /**
   * Why the expectations do not hold, at most 200 characters. If they do, why what stands in the commit's place is none.
   * Else null.
   */
  why: string | null;
}

/** What the run expects besides the check itself. */
export interface CheckAim extends CheckPlan {
  /** 7 to 64 hex digits in lower case. Null if any commit will do. */
  commit: string | null;
  /** True if any commit but the previous one will do. */
  orNewer: boolean;
}

/** The progress of a check, or its end. */
export interface CheckResult {
  name: string;
  /** Null while the check is in progress, and if the deployment did not complete. */
  outcome: 'passed' | 'failed' | 'unknown' | null;
  reads: number;
  goodReads: number;
  /** What the site answered just before the request. Null without a request. */
  baseline: SiteRead | null;
  last: SiteRead | null;
}

export const CHECKS_FACT: FactName<{
  /** Workers answer this to runs: the checks of their sites. */
  checks?: CheckPlan[];
  /** Workers answer this to runs and rollouts that leave out the checks: the names of those. */
  leftOut?: string[];
}> = { name: 'checks' };
