/** How often in a hundred draws something occurs. A broken rule is tested where it matters. */
export interface Mix {
  /** `latest` shows a deployment late. */
  lag: number;
  never: number;
  triggerFault: number;
  readFault: number;
  cancel: number;
  push: number;
  /** A push by another user before the first run. */
  earlyPush: number;
  /** Runs that deploy the same single site. */
  oneSite: number;
  minRuns: number;
  /** Scenarios with freezes, and with sites that have a check. */
  frozen: number;
  checked: number;
  /** Scenarios whose answers have ids or come from replicas. */
  answers: number;
  /** Runs that wait for the end of freezes. */
  thawWaits: number;
  /** The time in which the scenarios of a batch begin. */
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
  frozen: 25,
  checked: 25,
  answers: 25,
  thawWaits: 60,
  spreadMs: 12_000,
};

/** The differences of a mix in which most requests fail in some way, and little else does. */
export const DOUBTFUL: Partial<Mix> = { triggerFault: 95, readFault: 5, cancel: 0, never: 0, push: 0, earlyPush: 0 };
