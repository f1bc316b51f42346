/** Makes activities with the real code of activities. */
import { asyncLocalStorage, Context, type Info } from '@temporalio/activity';
import { DefaultFailureConverter, TemporalFailure, defaultPayloadConverter as payloads } from '@temporalio/common';
import { createActivities } from '../../../src/activities/index.ts';
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { TIMING } from '../../../src/contract/budgets/timing.ts';
import type { LocalActivity } from '../core/commands.ts';
import type { Outcome } from '../core/events.ts';
import type { ActivityTask } from '../temporal/activities.ts';
import type { Run } from '../temporal/types.ts';
import { createDeps } from './deps.ts';
import { textOf, type Ask, type WorkerParts } from './parts.ts';

export interface Maker {
  makeLocal(run: Run, local: LocalActivity): Promise<Outcome>;
  make(task: ActivityTask): Promise<void>;
}

const TIMED_OUT: Outcome = { failure: { message: 'activity timeout', timeoutFailureInfo: { timeoutType: 1 } } };

const failures = new DefaultFailureConverter();

export function createMaker(parts: WorkerParts, own: Pick<ActivityDeps, 'rest' | 'admission'>, ask: Ask): Maker {
  const { clock, process, server, hazard, onFinding } = parts;
  /** A token is the index of its task. */
  const tasks: ActivityTask[] = [];
  const taskOf = (token: Uint8Array) => tasks[new Uint32Array(token.buffer)[0]!]!;
  const deps = createDeps(parts, own, ask, taskOf, checkLate);
  const activities = createActivities(deps) as unknown as Record<string, (input: unknown) => Promise<unknown>>;

  async function call(
    type: string,
    input: LocalActivity['input'],
    info: object,
    hooks: Hooks = NO_HOOKS,
  ): Promise<Outcome> {
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
    async makeLocal(run, { seq, type, input, startToCloseMs }) {
      const info = { isLocal: true, attempt: 1, activityId: String(seq), workflowExecution: run };
      const tooLate = process.sleep(startToCloseMs).then(() => TIMED_OUT);
      await process.sleep(1);
      return Promise.race([call(type, input, { ...info, taskToken: new Uint8Array() }), tooLate]);
    },
    async make(task) {
      hazard('activity taken');
      // If it stops here, its code has not begun.
      await process.sleep(0);
      const { run, type, input, seq, attempt, scheduledMs, details } = task;
      const taskToken = new Uint8Array(new Uint32Array([tasks.push(task) - 1]).buffer);
      const info = { isLocal: false, attempt, activityId: String(seq), workflowExecution: run, taskToken };
      const heartbeatDetails: unknown = details === null ? undefined : payloads.fromPayload(details);
      const cancelled = new AbortController();
      let latest = details;
      const beat = (unsent: unknown) => {
        // Those of a POST come from timers of the real world, so `deps.ts` plays them.
        if (unsent === undefined) return;
        latest = payloads.toPayload(unsent);
        void ask(() => server.activities.heartbeat(task, latest!)).then((isAwaited) => isAwaited || cancelled.abort());
      };
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

const NO_HOOKS: Hooks = { beat: () => {}, signal: new AbortController().signal };

const never = new Promise<never>(() => {});
const unused = undefined as never;

function contextOf(info: object, { beat, signal }: Hooks): Context {
  return new Context(info as Info, never, signal, beat, undefined, unused, unused, unused);
}
