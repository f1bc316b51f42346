/**
 * The two reads. They return a failed read as a value, and the poll loop decides what it means. They throw only to
 * leave the read to another worker.
 */
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { OperationStatus, ReadOptions } from '../hosting-api/index.ts';
import type { DeploymentIdField, ReadAnswer, ReadFailure, ReadInput } from '../contract/activities.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { OperationKind } from '../contract/sinks.ts';
import type { Target } from '../contract/target.ts';
import { plainText, replaceUnprintable } from '../contract/safe-text.ts';
import { isOfThisWorker, notServed, toReadFailure, unread, leftWhileResting } from './failures.ts';
import { TIMING } from '../contract/timing.ts';
import type { ActivityDeps } from './deps.ts';
import type { Clocks } from './stopwatch.ts';

type ReadDeps = Pick<ActivityDeps, 'service' | 'workerInfo' | 'rest' | 'admission' | 'onRead'>;

/** @param result `answered`, or the kind of the failure. @param lateMs null if the read was not due at a time */
export type OnRead = (
  operation: OperationKind,
  result: 'answered' | ReadFailure['kind'],
  lateMs: number | null,
) => void;

export type Reads = ReturnType<typeof createReads>;

export function createReads({ service, workerInfo, rest, admission, onRead }: ReadDeps) {
  async function reportedRead(
    operation: OperationKind,
    input: ReadInput & { target?: Target },
    ask: (options: ReadOptions) => Promise<OperationStatus>,
  ): Promise<ReadAnswer> {
    const lateMs = input.dueMs === undefined ? null : admission.noteRead(input.dueMs);
    const answer = await read(input, ask);
    onRead?.(operation, answer.ok ? 'answered' : answer.kind, lateMs);
    return answer;
  }

  async function read(
    input: ReadInput & { target?: Target },
    ask: (options: ReadOptions) => Promise<OperationStatus>,
  ): Promise<ReadAnswer> {
    const message = notServed(input, workerInfo);
    if (message !== null) return { ...unread('other_service', message), ofThisWorker: true };
    if (input.unlessResting === true && !(await rest.isOver())) throw leftWhileResting(rest);
    try {
      const { status, ids } = await ask({ signal: cancellationSignal(), timeoutMs: TIMING.read.answerMs });
      return { ok: true, status: statusText(status), ...definedFields({ ids }) };
    } catch (error) {
      if (isOfThisWorker(error)) rest.begin(plainText(error.message));
      return toReadFailure(error);
    }
  }

  return {
    readLatestDeployment: (input: ReadInput & DeploymentIdField & { target: Target }): Promise<ReadAnswer> =>
      reportedRead('deployment', input, (options) =>
        service.readLatestDeployment(input.target, { ...options, idField: input.deploymentId }),
      ),

    readBackup: (input: ReadInput & { backupId: string }): Promise<ReadAnswer> =>
      reportedRead('backup', input, (options) => service.readBackup(input.backupId, options)),
  };
}

/** What cannot be printed stays as a sign: without it, another word might read like a final one. */
const statusText = (status: string): string => plainText(replaceUnprintable(status.trim(), '\ufffd'));

/**
 * Wraps the activities that make one read. Pooled waits are not wrapped, because they have heartbeats of their own,
 * whose details these would erase.
 */
export const singleReads = ({ readLatestDeployment, readBackup }: Reads, clocks: Clocks): Reads => ({
  readLatestDeployment: (input) => single(() => readLatestDeployment(input), clocks),
  readBackup: (input) => single(() => readBackup(input), clocks),
});

async function single(read: () => Promise<ReadAnswer>, clocks: Clocks): Promise<ReadAnswer> {
  const beats = setInterval(() => heartbeat(), TIMING.read.heartbeatMs).unref();
  const beganMs = clocks.monotonicMs();
  try {
    const answer = await read();
    const passedMs = Math.floor(clocks.monotonicMs() - beganMs);
    return { ...answer, answeredMs: activityInfo().currentAttemptScheduledTimestampMs + passedMs };
  } finally {
    clearInterval(beats);
  }
}
