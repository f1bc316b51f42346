/**
 * Every time budget of Belay, in milliseconds. Budgets that depend on each other are in one group, and
 * test/unit/timing.test.ts checks the inequalities. The defaults of what a user can set are in request/run-options.ts.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const POST = {
  /** A POST that no worker takes within this time, by Temporal's clock, is never sent. */
  takenWithinMs: 3 * SECOND,
  /** No POST is sent later than this after it was scheduled, by Temporal's clock. */
  sentWithinMs: 5 * SECOND,
  /** Temporal is asked directly before a POST, and its answer is valid for this long after the question. */
  permitMs: 2 * SECOND,
  /** How long the service may take to answer. */
  answerMs: 8 * SECOND,
  spareMs: SECOND,
  heartbeatMs: SECOND,
  /** A request that was not sent counts as certainly without effect for this long after it was scheduled. */
  certainMs: 15 * MINUTE,
  /** Temporal notices after this time that the worker of a POST is gone. */
  heartbeatTimeoutMs: 6 * SECOND,
} as const;

export const TIMING = {
  post: {
    ...POST,
    activityMs: POST.permitMs + POST.answerMs + POST.spareMs,
    /** The pause before the next attempt if this one was not sent. It doubles each time, up to the interval. */
    firstPauseMs: SECOND,
    /**
     * The time from the scheduling of a POST to the last moment at which it can be under way. No second POST follows
     * earlier.
     */
    underWayMs: POST.takenWithinMs + POST.permitMs + POST.answerMs + POST.spareMs,
  },
  /** How a worker paces its requests after an answer that asks to wait. */
  pace: {
    defaultPauseMs: 5 * SECOND,
    /** The shortest pause before the same read, even if the service names none or a time in the past. */
    leastPauseMs: SECOND,
    /** A service that names a longer time is asked once in between. */
    maxPauseMs: 5 * MINUTE,
    spreadMs: 2 * SECOND,
    /** How often a worker counts the others that share the ceiling. */
    countWorkersMs: 15 * SECOND,
  },
  /** How often a resting worker probes the service. */
  rest: { probePauseMs: 2 * SECOND },
  read: {
    /** A read left to another worker is lost if none takes it within this time. */
    takenWithinMs: 3 * SECOND,
    /** An activity that a resting worker gives back goes to the next worker after this. */
    handOverMs: 500,
    /** How long the service may take to answer. */
    answerMs: 15 * SECOND,
    activityMs: 20 * SECOND,
    /** This is longer than a usual read takes, so that only a slow read costs heartbeats. */
    heartbeatMs: 2 * SECOND,
    /** Temporal notices after this time that the worker of a read was killed. */
    heartbeatTimeoutMs: POST.heartbeatTimeoutMs,
    /** The limit for the questions that a worker and `belay doctor` ask the service for themselves. */
    probeMs: 3_500,
  },
  poll: {
    /** Reads soon after a trigger catch short transitions. */
    earlyReadsMs: [SECOND, 3 * SECOND],
    hintGapMs: SECOND,
    /** The pause while a token is being replaced, however long the interval is. */
    unauthorizedPauseMs: 15 * SECOND,
    unauthorizedPatienceMs: 2 * MINUTE,
    /** The pause of an operation that waits for a service that is down. */
    parkedPauseMs: MINUTE,
    /** The shortest time for failed reads of an operation, however short its budget is. */
    minWholeMs: 30 * SECOND,
  },
  pool: {
    /** Each heartbeat is a billed Action, and ten thousand waits send 220 a second. */
    heartbeatMs: 45 * SECOND,
    /** A wait whose worker was killed continues elsewhere after this. */
    heartbeatTimeoutMs: MINUTE,
    /** A workflow takes a wait back from the workers this long after its last read could have been due. */
    spareMs: 30 * SECOND,
  },
  verdict: {
    minSettleMs: 10 * SECOND,
    /** A read this late after a POST, or a gap this much over the interval, may miss a trace. */
    coverageSlackMs: 5 * SECOND,
  },
  lock: {
    /** A terminated holder signals no one, so a waiter looks again. A look and its timer are two billed actions. */
    lookAgainMs: MINUTE,
    /** How often it looks once its history is long. */
    lookSeldomMs: 10 * MINUTE,
    /** A busy worker takes this long from a release to the start of the operation. */
    handOverMs: 5 * SECOND,
    /** A holder closes milliseconds after its signal. */
    startAgainMs: 100,
  },
  backup: {
    /** After a wait, a backup that is older is made again. */
    freshMs: 15 * MINUTE,
  },
  freeze: {
    /** A request that was judged before a freeze began may still leave within this time. */
    inForceAfterMs: POST.permitMs,
    /** Temporal replaces no workflow that is younger. */
    replacedAfterMs: SECOND,
    /** A refused freeze stays this long, to tell the person who set it. */
    toldWithinMs: 15 * SECOND,
    /** The person who sets a freeze waits this long for a worker's answer. */
    confirmedWithinMs: 15 * SECOND,
    /**
     * Workflows that wait for a freeze look again this often, in their first hour and after that. A signal wakes them
     * earlier.
     */
    lookMs: 5 * MINUTE,
    lateLookMs: 30 * MINUTE,
    oftenForMs: 60 * MINUTE,
    /** Runs that waited for the same freeze resume within this time, each at its own offset. */
    spreadMs: MINUTE,
    leastMs: SECOND,
    /** A worker closes an ad-hoc freeze at its end, and Temporal closes it this much later if none does. */
    closeWithinMs: MINUTE,
  },
  admission: {
    /** While a tenth of the reads are later than this, fewer runs are admitted. */
    lateReadMs: 500,
    /** While nine tenths of the reads are no later than this, more runs are admitted. */
    punctualReadMs: 200,
    answerMs: 10 * SECOND,
  },
  lookup: {
    /** For an answer that the workflow can do without. */
    optionalMs: 5 * SECOND,
    /** For the question who polls a task queue. */
    pollersMs: 2 * SECOND,
    regularMs: 10 * SECOND,
    /** These attempts take over two minutes, in which a change of belay.yaml reaches the workers. */
    describeWorkerAttempts: 8,
    supersedeMs: 30 * SECOND,
    otherWorkersPauseMs: SECOND,
  },
  event: {
    /** Searches show a workflow a moment after its start, so they are made twice. */
    searchLagMs: 5 * SECOND,
    wakeMs: 15 * SECOND,
    holdMs: 30 * SECOND,
    deliverWithinMs: 5 * MINUTE,
    findSharedBackupWithinMs: MINUTE,
    /** A trigger is answered or given up within post.underWayMs, and then the record of its backup exists. */
    findServersAfterMs: [SECOND, 4 * SECOND, 16 * SECOND],
    findServersWithinMs: MINUTE,
    /** Older events are only recorded and reported. */
    freshForMs: 15 * MINUTE,
    /** This is longer than its notifications are retried. */
    giveUpAfterMs: 48 * 60 * MINUTE,
    /** How long a receiver relies on what it found out about its service. */
    serviceKnownForMs: 10 * SECOND,
    signalGapMs: SECOND,
    floodSignalGapMs: 10 * SECOND,
  },
  notify: {
    answerMs: 8 * SECOND,
    attemptMs: 20 * SECOND,
    retryMs: 2 * SECOND,
    maxRetryMs: 30 * MINUTE,
    /** The longest pause that a receiver can ask for. */
    maxPauseMs: 6 * 60 * MINUTE,
    giveUpAfterMs: 24 * 60 * MINUTE,
    /** A worker that lacks a channel leaves the message to another worker this soon. */
    otherWorkerMs: 500,
  },
  report: {
    /** A run that ends within this time is reported only with its end. */
    firstMs: 500,
    /** Belay looks for a terminated run after this time, and then after twice the time each, up to the longest. */
    lookMs: MINUTE,
    lateLookMs: 30 * MINUTE,
    /** A refused report is repeated after this time, this many times. */
    refusedPauseMs: 10 * MINUTE,
    refusals: 6,
    /** Attempts in quick succession, while workers lack the receiver. */
    soonAttempts: 30,
  },
  worker: {
    /** A poll lasts a minute, so a running worker was seen within this time. */
    seenWithinMs: 70 * SECOND,
    shutdownGraceMs: 15 * SECOND,
    /** After this time, a stopping worker gives up on activities that do not end. */
    shutdownForceMs: 40 * SECOND,
    /** The sticky queue of a killed worker keeps a task no longer than this. */
    stickyQueueMs: 2 * SECOND,
    workflowTaskMs: 5 * SECOND,
    /** The history of a thousand servers takes longer to replay. */
    rolloutTaskMs: 10 * SECOND,
    /** The pause before a worker that is not ready tries again. It doubles up to the second value. */
    retryMs: 2 * SECOND,
    maxRetryMs: 30 * SECOND,
    /** How often to check that the SDK has not given a worker up. */
    failedLookMs: 2 * SECOND,
    visibleWithinMs: 5 * SECOND,
    visiblePauseMs: 20,
    /** How often a worker compares its clock with Temporal's. */
    clockMs: MINUTE,
    /** How often a worker reports its policy. */
    policyMs: 2 * MINUTE,
    /** How often a worker tries to read a belay.yaml that it could not use. */
    policyRetryMs: 5 * SECOND,
    /** A changed belay.yaml counts once it stays as it is for this long. The permit of a POST waits for it. */
    policySettleMs: 500,
    /** How long an answer about its readiness holds. */
    readyForMs: 5 * SECOND,
    /**
     * How often a worker checks for its log whether it is ready, and after how many checks it repeats that it is not.
     */
    readinessLookMs: 15 * SECOND,
    looksPerLine: 4,
  },
  /** For an API key or a client certificate for Temporal. */
  credentials: {
    /** How often their files are read again. */
    lookAgainMs: 10 * SECOND,
    /** The connection before a change stays open this long for calls that have begun. */
    lingerMs: 90 * SECOND,
  },
  client: {
    connectMs: 4 * SECOND,
    /** The limit for any sign of life from Temporal. */
    aliveMs: 5 * SECOND,
    /**
     * How long a session relies on what it found out about the workers. Temporal limits how often they can be asked
     * for.
     */
    workersKnownForMs: 5 * SECOND,
    /** How long a call is retried that Temporal delays because the namespace makes too many. */
    limitedMs: MINUTE,
    maxLimitedPauseMs: 5 * SECOND,
    maxReconnectPauseMs: 2 * SECOND,
    startMs: 5 * SECOND,
    answerMs: 8 * SECOND,
    queryMs: 3 * SECOND,
    /** The limit for the last status, when waiting ends. */
    lastQueryMs: 1_500,
    listMs: 20 * SECOND,
    retryRolloutMs: 30 * SECOND,
    scheduleMs: 30 * SECOND,
    /** How long a list waits for one of its schedules. */
    scheduleAnswerMs: 8 * SECOND,
    scheduleRetryMs: SECOND,
    /** Temporal refuses shorter polls. */
    serverTimeMs: 2_300,
    longPollMs: MINUTE,
    /** How long a waiting client tries to reach Temporal again. */
    outageMs: MINUTE,
    reconnectPauseMs: SECOND,
    storeReadyMs: 2 * SECOND,
    storeEventMs: 5 * SECOND,
  },
  progress: {
    /** The time from when a read is due until its answer is in the history. */
    readMs: 500,
    /** A workflow task that waits longer than this has no worker. */
    silentMs: 8 * SECOND,
    /** A hint or a cancellation may change the status earlier. */
    maxAgeMs: 10 * SECOND,
  },
  overview: {
    /** How often Temporal is asked what is in flight. Searches are its scarcest calls. */
    listMs: 5 * SECOND,
    /** The shortest pause before a run is asked about again. */
    leastPauseMs: 2 * SECOND,
  },
  advice: {
    lookBackMs: 30 * 24 * 60 * MINUTE,
    answerMs: 5 * SECOND,
    /** A status or a summary does not wait longer than this for the advice beside it. */
    besideMs: 2 * SECOND,
  },
  cli: {
    /** A run that no worker has begun after this time is worth a message. */
    beginsWithinMs: 15 * SECOND,
    terminalPeriodMs: SECOND,
    logPeriodMs: 3 * SECOND,
    /**
     * Without a terminal, an unchanged line is printed again after this time. CI ends jobs that are silent for ten
     * minutes.
     */
    repeatMs: 5 * MINUTE,
  },
  doctor: { clockToleranceMs: 2 * SECOND },
  webhooks: {
    requestMs: 10 * SECOND,
    duplicateWindowMs: 10 * MINUTE,
    /** How long an answer of Temporal's readiness is valid. */
    readyForMs: SECOND,
    /** Events with one meaning within this time are handled as one. */
    coalesceMs: 2 * SECOND,
    /** Standard Webhooks allows this age, in both directions. */
    signatureAgeMs: 5 * MINUTE,
  },
  /** How long the end of a program waits for the last spans. */
  tracing: { flushMs: SECOND },
  codecServer: { requestMs: 10 * SECOND },
  board: {
    requestMs: 10 * SECOND,
    /** A page reloads every five seconds, so after this time nobody is watching. */
    lingerMs: 30 * SECOND,
    /** How long the first viewer waits for something to see. */
    firstReadMs: 3 * SECOND,
    /** What is in flight is listed every five seconds, and each time ten entries are asked about. */
    inFlightMs: 2 * SECOND,
    pastMs: 10 * SECOND,
    /** Results of past runs are read at this rhythm, a few at a time. */
    resultsMs: SECOND,
    workersMs: 15 * SECOND,
    freezesMs: 30 * SECOND,
    schedulesMs: MINUTE,
    receiptsMs: MINUTE,
    /** No target is read from the service more often. */
    serviceMs: 5 * SECOND,
    /** A firing that is this late needs attention. */
    lateMs: 5 * MINUTE,
  },
  dev: { serverStartMs: 2 * MINUTE, serverStopMs: 5 * SECOND, buildProgressMs: 20 * SECOND },
} as const;
