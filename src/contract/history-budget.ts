/**
 * What may fill the history of an operation or waiting run. Temporal terminates a workflow at its limit of events,
 * which would free the lock under a live deployment. test/unit/history-budget.test.ts checks the sum.
 */
export const HISTORY_BUDGET = {
  /** Temporal's limit. */
  maxEvents: 51_200,
  /** A read, its timer and its tasks. */
  eventsPerRead: 11,
  /** A read that another worker repeats, and its task. */
  eventsPerSecondRead: 6,
  /** After this many, a read that failed because of its worker counts at once. */
  maxSecondReads: 500,
  maxTries: 2_000,
  maxHintedReads: 600,
  /** The limit for an operation that waits for a service that is down. A longer outage is read less often. */
  maxParkedReads: 400,
  /** How many reads follow an outage in which the time of a wait ran out, and how many outages may end in this way. */
  readsPerGrace: 3,
  maxGraces: 4,
  /** A request that is not sent, with its timer and its tasks. */
  eventsPerRequest: 14,
  /** The baseline before a request, and the reads beside it that look for a trace. */
  readsPerRequest: 3,
  /** The limit for an operation whose request no worker sends. With a longer budget, it is tried less often. */
  maxUnsentRequests: 60,
  /** Reads that wait for the end of another deployment, and requests that are refused because of it. A longer wait spaces them out. */
  maxBusyReads: 1_000,
  maxConflicts: 300,
  /**
   * From this many events on, an operation sends no further request, because the wait for its verdict needs the rest. A
   * read that a rate limit held back waits for its next turn, and a run looks less often at a lock.
   */
  sparesFromEvents: 12_000,
  /** A look of a run that waits for a freeze, its timer and its tasks. */
  eventsPerThawLook: 11,
  maxThawLooks: 2_100,
  /** What follows a wait for a freeze: a backup, and a deployment that is held back again. */
  eventsPerThaw: 120,
  maxThaws: 50,
  /** How many looks of a run that waits for a freeze may follow a signal. */
  maxThawSignals: 600,
  /** A server of a rollout: its run, and the looks before it. */
  eventsPerServer: 15,
  /** A rollout with a larger history makes no more measurements. Temporal's limit is 50 MB. */
  gatesUntilBytes: 20_000_000,
  /** Senders of hints and of requests for a lock stop once a history has this many events. */
  signalsUntilEvents: 9_000,
} as const;

/**
 * Whether what a rollout can do without, such as a measurement, leaves room for the rest of it.
 *
 * @param servers how many it may still start, at most. Those that have ended are in its history already
 */
export function leavesRoomInRollout(historyLength: number, servers: number): boolean {
  const { maxEvents, eventsPerServer, maxThawLooks, eventsPerThawLook } = HISTORY_BUDGET;
  return historyLength + servers * eventsPerServer + maxThawLooks * eventsPerThawLook < maxEvents;
}
