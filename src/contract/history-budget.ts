/**
 * What may fill the history of an operation or waiting run. Temporal terminates a workflow at its limit of events, and
 * that would free the lock under a live deployment. test/unit/history-budget.test.ts checks the sum.
 */
export const HISTORY_BUDGET = {
  /** Temporal's limit. */
  maxEvents: 51_200,
  /** A read, its timer and its tasks. */
  eventsPerRead: 11,
  /** A read that another worker makes once more, and its task. */
  eventsPerSecondRead: 6,
  /** After that many, a read that failed because of its worker counts at once. */
  maxSecondReads: 500,
  maxTries: 2_000,
  maxHintedReads: 600,
  /** Of an operation that waits for a service that is down. A longer outage is read more seldom. */
  maxParkedReads: 400,
  /** Reads of a wait whose time ran out in an outage, and how many outages may end with them. */
  readsPerGrace: 3,
  maxGraces: 4,
  /** A request that is not sent, with its timer and its tasks. */
  eventsPerRequest: 14,
  /** The baseline before it, and those beside it that look for a trace. */
  readsPerRequest: 3,
  /** Of an operation whose request no worker sends. It is tried more seldom in a longer budget. */
  maxUnsentRequests: 60,
  /** Reads that wait for the end of another deployment, and requests that one refuses. A longer wait makes them more seldom. */
  maxBusyReads: 1_000,
  maxConflicts: 300,
  /** Of an operation that has not been accepted: the wait for its verdict needs the rest. */
  sendsUntilEvents: 12_000,
  /** A look of a run that waits for a freeze, its timer and its tasks. */
  eventsPerThawLook: 11,
  maxThawLooks: 2_100,
  /** What follows a wait for a freeze: a backup, and a deployment that is held back again. */
  eventsPerThaw: 120,
  maxThaws: 50,
  /** Of these looks, those that follow a signal. */
  maxThawSignals: 600,
  /** A server of a rollout: its run, and the looks before it. */
  eventsPerServer: 15,
  /** A rollout whose history is that large measures no more. Temporal's limit is 50 MB. */
  gatesUntilBytes: 20_000_000,
  /** Senders of hints and requests for a lock stop once a history has this many events. */
  signalsUntilEvents: 9_000,
} as const;
