/** How often, of a hundred, something is drawn. A mutated rule is looked for where it matters. */
export interface Mix {
  /** `latest` shows a deployment late. */
  lag: number;
  never: number;
  triggerFault: number;
  readFault: number;
  cancel: number;
  push: number;
  /** Somebody's push before the first run. */
  earlyPush: number;
  /** Runs that want the same one site. */
  oneSite: number;
  minRuns: number;
  /** Within which the scenarios of a batch begin. */
  spreadMs: number;
}

export const EVERYTHING: Mix = {
  lag: 30,
  never: 8,
  triggerFault: 35,
  readFault: 30,
  cancel: 20,
  push: 12,
  earlyPush: 10,
  oneSite: 50,
  minRuns: 1,
  spreadMs: 12_000,
};

/** What differs where there is little time. */
export const BRIEF: Partial<Mix> = { spreadMs: 2_000, never: 3 };
