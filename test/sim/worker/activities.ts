/** Makes activities with the real code of activities. */
import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { DefaultFailureConverter, TemporalFailure, defaultPayloadConverter as payloads } from '@temporalio/common';
import { createActivities } from '../../../src/activities/index.ts';
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { isPost } from '../../support/post-activities.ts';
import type { Outcome } from '../core/events.ts';
import type { ActivityTask } from '../temporal/activities.ts';
import { beatWhileAwaited, createDeps } from './deps.ts';
import { textOf, type Ask, type WorkerParts } from './parts.ts';

export interface Maker {
  make(task: ActivityTask): Promise<void>;
}

const READS: readonly string[] = ['readLatestDeployment', 'readBackup'];

const failures = new DefaultFailureConverter();

export function createMaker(parts: WorkerParts, own: Pick<ActivityDeps, 'rest' | 'admission'>, ask: Ask): Maker {
  const { clock, process, server, hazard, onFinding } = parts;
  /** A token is the index of its task. */
  const tasks: ActivityTask[] = [];
  const taskOf = (token: Uint8Array) => tasks[new Uint32Array(token.buffer)[0]!]!;
  const deps = createDeps(parts, own, ask, taskOf, checkLate);
  const activities = createActivities(deps) as unknown as Record<string, (input: unknown) => Promise<unknown>>;

  async function call(type: string, input: ActivityTask['input'], info: object, hooks: Hooks): Promise<Outcome> {
    const activity = activities[type];
    if (activity === undefined) throw new Error(`no activity ${type}`);
    try {
      const [argument] = input;
      const result = await asyncLocalStorage.run(contextOf({ ...info, activityType: type }, hooks), () =>
        activity(argument === undefined ? undefined : payloads.fromPayload(argument)),
      );
      return { result: payloads.toPayload(result) };
    } catch (error) {
      const isFailure = error instanceof TemporalFailure;
      if (!isFailure && !process.hasEnded) onFinding(`activity ${type}: ${textOf(error)}`);
      return { failure: failures.errorToFailure(error, payloads) };
    }
  }

  /** S2, in true time, whatever the clock of this worker shows. */
  function checkLate({ run, scheduledMs }: ActivityTask): void {
    const lateMs = clock.nowMs - scheduledMs;
    if (lateMs > TIMING.post.sentWithinMs)
      onFinding(`S2: ${run.workflowId} sent a request ${lateMs} ms after it was scheduled`);
  }

  return {
    async make(task) {
      hazard(isPost({ name: task.type }) ? 'request taken' : 'activity taken');
      // If it stops here, its code has not begun.
      await process.sleep(0);
      const { run, type, input, seq, attempt, scheduledMs, details } = task;
      const taskToken = new Uint8Array(new Uint32Array([tasks.push(task) - 1]).buffer);
      const info = { attempt, activityId: String(seq), workflowExecution: run, taskToken };
      const heartbeatDetails: unknown = details === null ? undefined : payloads.fromPayload(details);
      const cancelled = new AbortController();
      let latest = details;
      const beat = (unsent: unknown) => {
        // Those of a POST or read come from timers of the real world, so they are played.
        if (unsent === undefined) return;
        latest = payloads.toPayload(unsent);
        void ask(() => server.activities.heartbeat(task, latest!)).then((isAwaited) => isAwaited || cancelled.abort());
      };
      if (READS.includes(type)) beatWhileAwaited(parts, ask, task, TIMING.read.heartbeatMs);
      const attempted = { ...info, heartbeatDetails, currentAttemptScheduledTimestampMs: scheduledMs };
      const outcome = await call(type, input, attempted, { beat, signal: cancelled.signal });
      hazard('activity done');
      // As core does, the last heartbeat goes before a failure.
      await ask(() => {
        if (latest !== null && 'failure' in outcome) server.activities.heartbeat(task, latest);
        server.activities.close(task, outcome);
      });
    },
  };
}

interface Hooks {
  beat: (details: unknown) => void;
  signal: AbortSignal;
}

const never = new Promise<never>(() => {});
const unused = undefined as never;

function contextOf(info: object, { beat, signal }: Hooks): Context {
  return new Context(info as Info, never, signal, beat, undefined, unused, unused, unused);
}
