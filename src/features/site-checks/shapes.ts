/**
 * The check of a site after its deployment: whether it does what belay.yaml expects, and which commit it shows. Stored in
 * histories: add, never rename or remove.
 */
import type { FactName } from '../../contract/facts.ts';

/** What the worker's belay.yaml says of the check of a site. Recorded when the run begins. */
export interface CheckPlan {
  siteId: string;
  /** In belay.yaml. */
  name: string;
  intervalMs: number;
  tries: number;
  /** Good reads, one after another. */
  inARow: number;
  /** Whether the check says where the site shows its commit. */
  showsCommit: boolean;
}

/** Lets a run off the checks of its sites. */
export interface CheckWaiver {
  reason: string;
  /** Who decides. Default: who uses the connection. */
  by?: string;
}

export interface SiteReadInput {
  service: string;
  siteId: string;
  /** The name of the check. */
  check: string;
}

/** What a site answered. Nothing of its body or headers is in here. */
export interface SiteRead {
  /** `holds`: all expectations. `fails`: it answered otherwise. `nothing`: it gave no answer. */
  kind: 'holds' | 'fails' | 'nothing';
  httpStatus: number | null;
  /** 7 to 64 hex digits in lower case; null if it shows none. */
  commit: string | null;
  /** Why it does not hold, at most 200 characters; null if it does. */
  why: string | null;
}

/** What the run expects besides the check itself. */
export interface CheckAim extends CheckPlan {
  /** 7 to 64 hex digits in lower case; null if any will do. */
  commit: string | null;
  /** Whether any commit but the one before will do. */
  orNewer: boolean;
}

/** How the check of a deployment ended, or how far it is. */
export interface CheckResult {
  name: string;
  /** Null while it is in progress, and if the deployment did not complete. */
  outcome: 'passed' | 'failed' | 'unknown' | null;
  reads: number;
  goodReads: number;
  /** What the site answered just before the request; null without a request. */
  baseline: SiteRead | null;
  last: SiteRead | null;
}

export const CHECKS_FACT: FactName<{
  /** Only of a run: the checks of its sites. */
  checks?: CheckPlan[];
  /** Only of what leaves out the checks of its sites: their names. */
  leftOut?: string[];
}> = { name: 'checks' };
