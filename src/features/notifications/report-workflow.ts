/**
 * Reports the state of a run to other places, in order and one message at a time for each. It also reports the end,
 * however the run ends.
 */
import { ApplicationFailure } from '@temporalio/common';
import { condition, defineSignal, setHandler, sleep } from '@temporalio/workflow';
import { usageFailure } from '../../workflows/conclusion.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { SIGNALS } from '../../contract/names.ts';
import type { ReportAnswer, ReportInput, ReportNote, ReportTo, ReportedRun, StateReport } from './shapes.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { isText, isTextOrNull, targetOrProblem } from '../../request/problems.ts';
import { TIMING } from '../../contract/timing.ts';
import { plainText } from '../../contract/safe-text.ts';
import { findEndOfRun, sendReport } from '../../workflows/activity-proxies.ts';

const { notify, report: timing } = TIMING;

const stateSignal = defineSignal<[ReportedRun]>(SIGNALS.reported);

/** @returns the names of the receivers that were told the end */
export async function report(input: ReportInput): Promise<string[]> {
  refuseOtherInput(input);
  const latest = new Latest(input.state);
  setHandler(stateSignal, (given: unknown) => {
    if (isState(given)) latest.take(given);
  });
  await condition(() => latest.isEnd, timing.firstMs, { summary: 'unless the run ends at once' });
  const lanes = lanesOf(input);
  const sending = lanes.map((receivers) => sendAll(input, receivers, latest));
  await Promise.all([...sending, watch(input, latest)]);
  const missed = (await Promise.all(sending)).flat();
  if (missed.length === 0) return lanes.flat().map(({ name }) => name);
  throw ApplicationFailure.create({
    type: 'NotificationFailed',
    message: `not reported: ${missed.join('; ')}`,
    nonRetryable: true,
  });
}

/** The UI can start this with any input, and send it any signal: an error here would be retried for ever. */
function refuseOtherInput(input: Partial<ReportInput> | null | undefined): void {
  const { workflowId, firstRunId, heartbeat, commit, places, state } = input ?? {};
  const isNamed = isText(workflowId) && isText(firstRunId) && isTextOrNull(heartbeat) && isTextOrNull(commit);
  if (isNamed && isState(state) && Array.isArray(places) && places.every(isPlace)) return;
  throw usageFailure('this is not what a run reports: only a run starts this workflow');
}

const isPlace = (value: unknown): boolean =>
  isRecord(value) && isText(value.report) && typeof targetOrProblem(value.target) === 'object';

const isState = (value: unknown): value is ReportedRun =>
  isRecord(value) &&
  typeof value.atMs === 'number' &&
  isStateReport(value.run) &&
  isRecord(value.parts) &&
  Object.values(value.parts).every(isStateReport);

const isStateReport = (value: unknown): boolean => isRecord(value) && isText(value.state) && isText(value.text);

/** The latest state of the run, and of each of its targets. */
class Latest {
  #run: ReportedRun;
  #parts = new Map<string, ReportedRun>();

  constructor(first: ReportedRun) {
    this.#run = first;
    this.#takeParts(first);
  }

  get isEnd(): boolean {
    return this.#run.isEnd;
  }

  get run(): StateReport {
    return this.#run.run;
  }

  of(lockId: string): StateReport {
    return this.#parts.get(lockId)?.parts[lockId] ?? this.run;
  }

  take(given: ReportedRun): void {
    if (this.isEnd) return;
    if (isLater(given, this.#run)) this.#run = given;
    // The end is whole.
    if (this.isEnd) this.#parts.clear();
    this.#takeParts(given);
  }

  #takeParts(given: ReportedRun): void {
    for (const lockId of Object.keys(given.parts)) {
      const known = this.#parts.get(lockId);
      if (known === undefined || isLater(given, known)) this.#parts.set(lockId, given);
    }
  }
}

const isLater = (one: ReportedRun, other: ReportedRun): boolean =>
  one.atMs > other.atMs || (one.atMs === other.atMs && one.seq > other.seq);

interface Receiver {
  to: ReportTo;
  name: string;
  stateIn: (latest: Latest) => StateReport | null;
  /** The key of the state that was sent last. */
  sent?: string;
  note?: ReportNote | undefined;
}

/** Each of these lists gets one message at a time. */
function lanesOf({ heartbeat, places, commit }: ReportInput): Receiver[][] {
  const beats: Receiver[][] = heartbeat === null ? [] : [[receiverOfHeartbeat(heartbeat)]];
  const names = commit === null ? [] : [...new Set(places.map((it) => it.report))];
  const reports = names.map((name) =>
    places
      .filter((it) => it.report === name)
      .map(({ target }): Receiver => {
        const lockId = lockIdOf(target);
        const to: ReportTo = { kind: 'report', name, target, commit: commit ?? '' };
        return { to, name: `report ${name} of ${lockId}`, stateIn: (latest) => latest.of(lockId) };
      }),
  );
  return [...beats, ...reports];
}

/** A monitor measures from the start, so it is told nothing while the run waits. */
const receiverOfHeartbeat = (name: string): Receiver => ({
  to: { kind: 'heartbeat', name },
  name: `heartbeat ${name}`,
  stateIn: ({ run }) => (run.state === 'waiting' ? null : run),
});

/** @returns what was not taken in the end */
async function sendAll(input: ReportInput, receivers: Receiver[], latest: Latest): Promise<string[]> {
  const missed = new Map<Receiver, string>();
  for (;;) {
    await condition(() => latest.isEnd || receivers.some((it) => isDue(it, latest)));
    const next = receivers.find((it) => isDue(it, latest));
    if (next === undefined) return [...missed.values()];
    const problem = await deliver(input, next, latest);
    if (problem === null) missed.delete(next);
    else missed.set(next, `${next.name}: ${problem}`);
  }
}

function isDue({ stateIn, sent }: Receiver, latest: Latest): boolean {
  const now = stateIn(latest);
  return now !== null && keyOf(now) !== sent;
}

const keyOf = ({ state, text }: StateReport): string => `${state}:${text}`;

/**
 * Sends the state of the moment. If a newer state overtakes it, the older one is not sent again, and the tries start
 * anew.
 *
 * @returns why the receiver did not take it, or null
 */
async function deliver(
  { workflowId, firstRunId }: ReportInput,
  receiver: Receiver,
  latest: Latest,
): Promise<string | null> {
  const beganMs = Date.now();
  let count = 0;
  let refusals = 0;
  let reported = latest.run;
  for (;;) {
    reported = receiver.stateIn(latest) ?? reported;
    receiver.sent = keyOf(reported);
    const noted = receiver.note === undefined ? {} : { note: receiver.note };
    const answer = await sendOnce({ workflowId, firstRunId, to: receiver.to, reported, ...noted });
    if ('note' in answer) receiver.note = answer.note;
    if (answer.kind === 'taken') return null;
    count += 1;
    if (answer.kind === 'refused') refusals += 1;
    const problem = answer.kind === 'unknown' ? 'no worker has it in its belay.yaml' : answer.message;
    const pauseMs = pauseAfter(answer, count);
    if (refusals > timing.refusals || Date.now() + pauseMs - beganMs > notify.giveUpAfterMs) return problem;
    const options = { summary: plainText(problem, 100) };
    // A new state is sent at once, unless the receiver itself asked for a pause.
    if (answer.kind === 'later' && answer.afterMs !== null) await sleep(pauseMs, options);
    else if (await condition(() => isDue(receiver, latest), pauseMs, options)) return problem;
  }
}

const sendOnce = (message: Parameters<typeof sendReport>[0]): Promise<ReportAnswer> =>
  sendReport(message).catch(() => ({ kind: 'later', message: 'no worker sent it', afterMs: null }));

function pauseAfter(answer: Exclude<ReportAnswer, { kind: 'taken' }>, count: number): number {
  if (answer.kind === 'refused') return timing.refusedPauseMs;
  if (answer.kind === 'unknown' && count <= timing.soonAttempts) return notify.otherWorkerMs;
  const growingMs = Math.min(notify.retryMs * 2 ** Math.min(count - 1, 20), notify.maxRetryMs);
  if (answer.kind !== 'later' || answer.afterMs === null) return growingMs;
  // An answer with a note only read the receiver, so the message itself may follow at once. A receiver that asks for a
  // pause of one second all day long would fill the history.
  return 'note' in answer ? answer.afterMs : Math.min(Math.max(answer.afterMs, growingMs), notify.maxPauseMs);
}

/** A run that was terminated sends no signal, so this looks at it, at growing intervals. */
async function watch({ workflowId, firstRunId }: ReportInput, latest: Latest): Promise<void> {
  for (let pauseMs: number = timing.lookMs; ; pauseMs = Math.min(2 * pauseMs, timing.lateLookMs)) {
    if (await condition(() => latest.isEnd, pauseMs)) return;
    const found = await findEndOfRun({ workflowId, firstRunId }).catch(() => null);
    if (found === null || latest.isEnd) continue;
    latest.take({ ...found, isEnd: true, atMs: Infinity, seq: 0 });
  }
}
