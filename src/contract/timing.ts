/**
 * Every time budget of Belay, in milliseconds. Budgets that depend on each other are in one group, and
 * test/unit/timing.test.ts checks the inequalities. What a user can set has its default in request/run-options.ts.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const POST = {
  /** A POST that no worker takes within this time, by Temporal's clock, is never sent. */
  takenWithinMs: 3 * SECOND,
  /** No POST is sent later than this after it was scheduled, by Temporal's clock. */
  sentWithinMs: 5 * SECOND,
  /** Temporal is asked directly before a POST, and its answer holds for this long after the question. */
  permitMs: 2 * SECOND,
  /** How long the service may take to answer. */
  answerMs: 8 * SECOND,
  spareMs: SECOND,
  heartbeatMs: SECOND,
  /** A request that was not sent counts as certainly without effect for this long after it was scheduled. */
  certainMs: 15 * MINUTE,
  /** A POST whose worker is gone is known after this. */
  heartbeatTimeoutMs: 6 * SECOND,
} as const;

export const TIMING = {
  post: {
    ...POST,
    activityMs: POST.permitMs + POST.answerMs + POST.spareMs,
    /** The pause before the next attempt if this one was not sent. It doubles each time, up to the interval. */
    firstPauseMs: SECOND,
    /** From scheduling to the last moment a POST can still be under way: no second one follows before. */
    underWayMs: POST.takenWithinMs + POST.permitMs + POST.answerMs + POST.spareMs,
  },
  /** Of all requests of a worker, after an answer that asks to wait. */
  pace: {
    defaultHoldMs: 5 * SECOND,
    /** The least pause before the same read, also if the service names none or a time that is over. */
    leastPauseMs: SECOND,
    /** A service that names a longer time is asked once in between. */
    maxHoldMs: 5 * MINUTE,
    spreadMs: 2 * SECOND,
    /** How often a worker looks how many others share the ceiling. */
    countWorkersMs: 15 * SECOND,
  },
  /** How often a worker that rests probes the service. */
  rest: { probePauseMs: 2 * SECOND },
  read: {
    /** A read left to another worker is not made if none takes it within this time. */
    takenWithinMs: 3 * SECOND,
    /** An activity that a resting worker gives back goes to the next worker after this. */
    handOverMs: 500,
    /** How long the service may take to answer. */
    answerMs: 15 * SECOND,
    activityMs: 20 * SECOND,
    /** Longer than a usual read takes, so that only a slow one costs heartbeats. */
    heartbeatMs: 2 * SECOND,
    /** A read whose worker was killed is known to be lost after this. */
    heartbeatTimeoutMs: POST.heartbeatTimeoutMs,
    /** The worker's and doctor's own question to the service. */
    probeMs: 3_500,
  },
  poll: {
    /** After a trigger, to catch short transitions. */
    earlyReadsMs: [SECOND, 3 * SECOND],
    hintGapMs: SECOND,
    /** While a token is being replaced, however long the interval is. */
    unauthorizedPauseMs: 15 * SECOND,
    unauthorizedPatienceMs: 2 * MINUTE,
    /** Of an operation that waits for a service that is down. */
    parkedPauseMs: MINUTE,
    /** Least time for failed reads of an operation, however short its budget is. */
    minWholeMs: 30 * SECOND,
  },
  /** Of pooled waits. */
  pool: {
    /** Each is an Action, and ten thousand waits send 220 a second. */
    heartbeatMs: 45 * SECOND,
    /** A wait whose worker was killed goes on elsewhere after this. */
    heartbeatTimeoutMs: MINUTE,
    /** After the whole time of an operation, its workflow no longer leaves the wait to the workers. */
    spareMs: 30 * SECOND,
  },
  verdict: {
    minSettleMs: 10 * SECOND,
    /** A read this late after a POST, or a gap this much over the interval, leaves a trace unseen. */
    coverageSlackMs: 5 * SECOND,
  },
  lock: {
    /** A terminated holder signals no one, so a waiter looks again. A look and its timer are two billed actions. */
    lookAgainMs: MINUTE,
    /** A worker that is busy takes this long from a release to the start of the operation. */
    handOverMs: 5 * SECOND,
    /** A holder closes milliseconds after its signal. */
    startAgainMs: 100,
  },
  backup: {
    /** After a wait, a backup that is older is made again. */
    freshMs: 15 * MINUTE,
  },
  freeze: {
    /** A request that was judged before a freeze began may leave in this time. */
    inForceAfterMs: POST.permitMs,
    /** How long a refused freeze stays to tell who set it. */
    toldWithinMs: 15 * SECOND,
    /** How long who sets one waits for the word of a worker. */
    confirmedWithinMs: 15 * SECOND,
    /** What waits for a freeze looks again this often, in its first hour and after that. A signal wakes it earlier. */
    lookMs: 5 * MINUTE,
    lateLookMs: 30 * MINUTE,
    oftenForMs: 60 * MINUTE,
    /** What waited for the same freeze goes on within this time, each at a moment of its own. */
    spreadMs: MINUTE,
    leastMs: SECOND,
    /** A worker closes an ad-hoc freeze at its end, and Temporal closes it this much later if none does. */
    closeWithinMs: MINUTE,
  },
  admission: {
    /** While a tenth of the reads are this late, fewer runs are admitted. */
    lateReadMs: 500,
    /** While nine tenths are no later than this, more are. */
    punctualReadMs: 200,
    answerMs: 10 * SECOND,
  },
  lookup: {
    /** Of an answer that is not needed. */
    optionalMs: 5 * SECOND,
    /** Who polls a task queue. */
    pollersMs: 2 * SECOND,
    regularMs: 10 * SECOND,
    /** Over two minutes, in which a change of belay.yaml reaches the workers. */
    describeWorkerAttempts: 8,
    supersedeMs: 30 * SECOND,
    otherWorkersPauseMs: SECOND,
  },
  event: {
    /** Searches show a workflow a moment after it started, so they are made twice. */
    searchLagMs: 5 * SECOND,
    wakeMs: 15 * SECOND,
    holdMs: 30 * SECOND,
    deliverWithinMs: 5 * MINUTE,
    findSharedBackupWithinMs: MINUTE,
    /** A trigger is answered or given up within post.underWayMs, and then its backup's record exists. */
    findServersAfterMs: [SECOND, 4 * SECOND, 16 * SECOND],
    findServersWithinMs: MINUTE,
    /** What happened longer ago is only recorded and reported. */
    freshForMs: 15 * MINUTE,
    /** Longer than its notifications are tried. */
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
    maxHoldMs: 6 * 60 * MINUTE,
    giveUpAfterMs: 24 * 60 * MINUTE,
    /** A worker that lacks a channel passes the message on to another worker this soon. */
    otherWorkerMs: 500,
  },
  report: {
    /** A run that ends within this time is reported with its end only. */
    firstMs: 500,
    /** A run that was terminated is found after this, and then after twice the time, up to the longest. */
    lookMs: MINUTE,
    lateLookMs: 30 * MINUTE,
    /** What a receiver refused is sent again after this, this many times. */
    refusedPauseMs: 10 * MINUTE,
    refusals: 6,
    /** Of workers that lack the receiver. */
    soonAttempts: 30,
  },
  worker: {
    /** A poll lasts a minute, so a running worker was seen within this time. */
    seenWithinMs: 70 * SECOND,
    shutdownGraceMs: 15 * SECOND,
    /** The sticky queue of a killed worker keeps a task no longer than this. */
    stickyQueueMs: 2 * SECOND,
    workflowTaskMs: 5 * SECOND,
    /** The history of a thousand servers takes longer to replay. */
    rolloutTaskMs: 10 * SECOND,
    /** The pause before a worker that is not ready tries again: doubled each time, up to the second one. */
    retryMs: 2 * SECOND,
    maxRetryMs: 30 * SECOND,
    /** How often it is checked that the SDK did not give a worker up. */
    failedLookMs: 2 * SECOND,
    visibleWithinMs: 5 * SECOND,
    visiblePauseMs: 20,
    /** How often a worker compares its clock with Temporal's. */
    clockMs: MINUTE,
    /** How often a worker reports its policy. */
    policyMs: 2 * MINUTE,
    /** How long an answer about its readiness holds. */
    readyForMs: 5 * SECOND,
    /** How often a worker looks whether it is ready, for its log, and after how many looks it says so again. */
    readinessLookMs: 15 * SECOND,
    looksPerLine: 4,
  },
  /** Of an API key or a client certificate for Temporal. */
  credentials: {
    /** How often their files are read again. */
    lookAgainMs: 10 * SECOND,
    /** The connection before a change stays open for calls that have begun. */
    lingerMs: 90 * SECOND,
  },
  client: {
    connectMs: 4 * SECOND,
    /** Any answer. */
    aliveMs: 5 * SECOND,
    /** How long a session relies on what it found out about the workers: Temporal limits how often it is asked. */
    workersKnownForMs: 5 * SECOND,
    /** How long a call is tried again that Temporal puts off because the namespace makes too many. */
    limitedMs: MINUTE,
    maxLimitedPauseMs: 5 * SECOND,
    maxReconnectPauseMs: 2 * SECOND,
    startMs: 5 * SECOND,
    answerMs: 8 * SECOND,
    queryMs: 3 * SECOND,
    /** When waiting ends, for the status it is left with. */
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
    /** From the time a read is due until its answer is in the history. */
    readMs: 500,
    /** A workflow task that waits for longer has no worker. */
    silentMs: 8 * SECOND,
    /** A hint or a cancellation changes the status earlier. */
    maxAgeMs: 10 * SECOND,
  },
  overview: {
    /** How often Temporal is asked what is in flight. Its searches are the scarcest of its calls. */
    listMs: 5 * SECOND,
    /** No run is asked about again sooner. */
    leastPauseMs: 2 * SECOND,
  },
  /** Of past operations. */
  advice: {
    lookBackMs: 30 * 24 * 60 * MINUTE,
    answerMs: 5 * SECOND,
    /** Who wants a status or a summary does not wait longer for the advice beside it. */
    besideMs: 2 * SECOND,
  },
  cli: {
    /** A run that no worker has begun after this time is worth a message. */
    beginsWithinMs: 15 * SECOND,
    terminalPeriodMs: SECOND,
    logPeriodMs: 3 * SECOND,
    /** Without a terminal, a line that stands is printed again after this. CI ends jobs that are silent for ten minutes. */
    repeatMs: 5 * MINUTE,
  },
  doctor: { clockToleranceMs: 2 * SECOND },
  webhooks: {
    requestMs: 10 * SECOND,
    duplicateWindowMs: 10 * MINUTE,
    /** Whether Temporal answers. */
    readyForMs: SECOND,
    /** Events with one meaning within this time are handled as one. */
    coalesceMs: 2 * SECOND,
    /** By Standard Webhooks, in both directions. */
    signatureAgeMs: 5 * MINUTE,
  },
  /** How long the end of a program waits for the last spans. */
  tracing: { flushMs: SECOND },
  codecServer: { requestMs: 10 * SECOND },
  board: {
    requestMs: 10 * SECOND,
    /** A page looks again after five seconds, so nobody looks any more after this. */
    lingerMs: 30 * SECOND,
    /** How long the first one who looks waits for something to see. */
    firstReadMs: 3 * SECOND,
    /** What is in flight is listed every five seconds, and ten of it are asked about each time. */
    inFlightMs: 2 * SECOND,
    pastMs: 10 * SECOND,
    /** The results of past runs are read in this rhythm, some at a time. */
    resultsMs: SECOND,
    workersMs: 15 * SECOND,
    freezesMs: 30 * SECOND,
    schedulesMs: MINUTE,
    receiptsMs: MINUTE,
    /** No target is read from the service more often. */
    serviceMs: 5 * SECOND,
    /** A firing that is this late is worth a look. */
    lateMs: 5 * MINUTE,
  },
  dev: { serverStartMs: 30 * SECOND, serverStopMs: 5 * SECOND, buildProgressMs: 20 * SECOND },
} as const;
