/**
 * What two worker processes go through, each until it ends. Workers are expensive, and most of these tests wait, so both
 * lives begin before the first test, and pass beside those of the other suites.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as around from '../../support/around-post.ts';
import type { Belay } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { posts } from '../../support/journal.ts';
import { once } from '../../support/once.ts';
import { resultOf } from '../../support/outcome.ts';
import type { Started } from '../../support/processes.ts';

const { another, ANSWERED, ANSWERED_LATE, backUp, deploy, givenToStopped, pending, place, sent } = around;

const HOUR_MS = 3_600_000;
const SLOW = { ...ANSWERED_LATE, delayMs: 7_000 };
/** After this time, a worker may have given up the answer. */
const TOO_SLOW_MS = 7_500;
/** An answer would come before the worker is killed, if another POST is sent much later. */
const UNANSWERED: around.Post = { answer: { kind: 'none' }, effect: true };
/** Reads count as interrupted after it, whether another worker then starts quickly or not. */
const INTERRUPTION_MS = 7_000;

export const timedOut = (operation: around.Operation) =>
  eventually('the timeout of the POST', async () => (await pending(operation)) === undefined);

const ended = (operations: around.Operation[]) => Promise.all(operations.map(({ run }) => resultOf(run)));

/** Their POSTs are under way when their worker gets a signal that ends it, and after a pause another worker continues. */
async function losing(
  { queue, worker, belay }: { queue: string; worker: Started; belay: Belay },
  signal: NodeJS.Signals,
  pauseMs: number,
  ...starts: ((belay: Belay) => Promise<around.Operation>)[]
) {
  const operations = await Promise.all(starts.map((start) => start(belay)));
  await Promise.all(operations.map((operation) => sent(operation)));
  worker.process.kill(signal);
  // A killed worker has gone before another one starts. One that stops may meet it.
  if (signal === 'SIGKILL') await worker.finished;
  await sleep(pauseMs);
  await another(queue);
  return { operations, worker };
}

/** A worker with the right clock. */
const right = once(() => place());

/** A deployment whose worker stops for a moment after it sent its POST. */
export const stoppedForAMoment = once(async () => {
  const [{ worker, belay }, { sandbox }] = [await right(), await around.startTestTemporal()];
  for (;;) {
    const operation = await deploy(belay, SLOW);
    await sent(operation);
    const sentMs = Date.parse(posts(sandbox, operation.path)[0]!.at);
    // Four seconds between heartbeats, the first after one, would leave the next one to the time of the stall.
    await sleep(4_200);
    worker.process.kill('SIGSTOP');
    await sleep(2_200);
    worker.process.kill('SIGCONT');
    await sleep(Math.max(0, sentMs + SLOW.delayMs - Date.now()));
    if (Date.now() - sentMs < TOO_SLOW_MS) return operation;
    // This machine was busy, and stalled the service as well: once more.
    await ended([operation]);
  }
});

/** A deployment and a backup whose worker stops after it sent their POSTs, until they have timed out. */
export const stoppedAfterSending = once(async () => {
  const { worker, belay } = await right();
  await ended([await stoppedForAMoment()]);
  const operations = await Promise.all([deploy(belay, ANSWERED_LATE), backUp(belay, ANSWERED_LATE)]);
  await Promise.all(operations.map((operation) => sent(operation)));
  worker.process.kill('SIGSTOP');
  await Promise.all(operations.map(timedOut));
  worker.process.kill('SIGCONT');
  return operations;
});

/** A deployment and a backup whose worker is asked to stop after it sent their POSTs. */
export const stopped = once(async () => {
  await ended(await stoppedAfterSending());
  const start = [deploy, backUp].map((it) => (belay: Belay) => it(belay, ANSWERED_LATE));
  return losing(await right(), 'SIGTERM', 0, ...start);
});

/**
 * A deployment that a worker whose clock is an hour behind was given, and did not send before its POST timed out. By its
 * own clock, the POST was never late.
 */
export const givenTooLate = once(async () => {
  const given = await givenToStopped(-HOUR_MS);
  await timedOut(given.operation);
  given.worker.process.kill('SIGCONT');
  return given;
});

/** A deployment and a backup by that worker, once it is the only one and has nothing left to do. */
export const byTheClockBehind = once(async () => {
  const { operation, stopWatching, worker, belay } = await givenTooLate();
  await ended([operation]);
  await stopWatching();
  return { operations: [await deploy(belay, ANSWERED), await backUp(belay, ANSWERED)], worker };
});

/** POSTs of that worker, which is killed while it waits for their answers. */
export const killed = once(async () => {
  await ended((await byTheClockBehind()).operations);
  return losing(
    await givenTooLate(),
    'SIGKILL',
    INTERRUPTION_MS,
    (belay) => deploy(belay, UNANSWERED),
    (belay) => backUp(belay, UNANSWERED),
    (belay) => backUp(belay, around.WITHOUT_EFFECT),
    (belay) => deploy(belay, around.WITHOUT_EFFECT),
  );
});
