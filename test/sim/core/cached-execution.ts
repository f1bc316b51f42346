/** One workflow execution in the cache of a worker, as the SDK's core runs it: a task is one activation of the code. */
import type { Payload } from '@temporalio/common';
import { readCommand, type Asked, type Rejected } from './commands.ts';
import { compare } from './compare.ts';
import type { Commanded, HistoryEvent, UpdateRequest } from './events.ts';
import { inOrder, jobOf, updateJob } from './jobs.ts';
import type { ExecutionFacts, Job, Sandboxes } from './sdk.ts';
import { stepsOf, withoutIds, type Step } from './steps.ts';

/** The end of a task. */
export interface Completion {
  commands: Commanded[];
  /** Updates that the code has not accepted. */
  rejected: Rejected[];
  /** Changes of the SDK's behaviour that the code now relies on. */
  flags: number[];
}

export interface Cached {
  /** Feeds all completed tasks of a history. @throws Nondeterminism */
  replayAll(history: readonly HistoryEvent[]): Promise<void>;
  /** @param history up to the start of the task @param updates that are new with it */
  runTask(history: readonly HistoryEvent[], updates: readonly UpdateRequest[]): Promise<Completion>;
  /** The server has dropped the last task. Its events will be those of another one. */
  forgetTask(): void;
  /** @throws Error if the code has no such query */
  query(name: string): Promise<Payload>;
  dispose(): Promise<void>;
}

export async function openCached(sandboxes: Sandboxes, facts: ExecutionFacts): Promise<Cached> {
  const code = await sandboxes.open(facts);
  const known = new Set<number>();
  /** Ids of updates. */
  const accepted = new Set<string>();
  let doneUntilId = 0;
  let doneBeforeId = 0;
  let nowMs = 0;

  async function runTask(history: readonly HistoryEvent[], updates: readonly UpdateRequest[]): Promise<Completion> {
    const steps = stepsOf(history, doneUntilId);
    const live = steps.pop();
    if (live?.commanded !== null) throw new Error('no task to do');
    for (const step of steps) await replay(step);
    [doneBeforeId, doneUntilId] = [doneUntilId, live.startedId];
    const jobs = [...jobsOf(live.incoming, facts), ...updates.map((it) => updateJob(it, true))];
    const [commands, rejected]: [Commanded[], Rejected[]] = [[], []];
    for (const it of await activate(live, jobs)) {
      if (it.kind === 'rejected') rejected.push(it);
      else commands.push(it);
    }
    return { commands, rejected, flags: [...known].filter((flag) => !live.flags.includes(flag)) };
  }

  async function activate(step: Step, jobs: Job[]): Promise<Asked[]> {
    const isReplaying = step.commanded !== null;
    // In core the time of a workflow never goes back.
    nowMs = Math.max(nowMs, step.atMs);
    const activation = {
      atMs: nowMs,
      startedId: step.startedId,
      isReplaying,
      jobs: inOrder(jobs),
      flags: step.flags,
    };
    const { commands, flags } = await code.activate(activation);
    for (const flag of flags) known.add(flag);
    return withoutUnsent(commands.map(readCommand).map(failIfAccepted));
  }

  /** The SDK has one command for a rejection and a failure. One activation may accept an update and fail it. */
  function failIfAccepted(asked: Asked): Asked {
    if (asked.kind === 'updateAccepted') accepted.add(asked.updateId);
    if (asked.kind !== 'rejected' || !accepted.has(asked.updateId)) return asked;
    const { updateId, failure } = asked;
    return { kind: 'updateCompleted', updateId, acceptedId: 0, outcome: { failure } };
  }

  /** Feeds a completed task again. @throws Nondeterminism */
  async function replay(step: Step): Promise<void> {
    const recorded = step.commanded ?? [];
    const updates = recorded.flatMap((it) => (it.kind === 'updateAccepted' && it.request ? [it.request] : []));
    const patches = recorded.flatMap((it) =>
      it.kind === 'patched' ? [{ notifyHasPatch: { patchId: it.patchId } }] : [],
    );
    const jobs: Job[] = [...patches, ...jobsOf(step.incoming, facts), ...updates.map((it) => updateJob(it, false))];
    const made = jobs.length === 0 ? [] : await activate(step, jobs);
    compare(
      `${facts.workflowId}, task ${step.startedId}`,
      made.filter((it) => it.kind !== 'rejected'),
      recorded.map(withoutIds),
    );
    doneUntilId = step.startedId;
  }

  async function replayAll(history: readonly HistoryEvent[]): Promise<void> {
    for (const step of stepsOf(history, doneUntilId)) if (step.commanded !== null) await replay(step);
  }

  async function query(queryType: string): Promise<Payload> {
    const jobs = [queryJob(queryType)];
    const { commands } = await code.activate({
      atMs: nowMs,
      startedId: doneUntilId,
      isReplaying: true,
      jobs,
      flags: [],
    });
    const [answer] = commands.map(({ respondToQuery }) => respondToQuery);
    if (!answer?.succeeded)
      throw new Error(`${facts.workflowId} does not answer ${queryType}: ${answer?.failed?.message}`);
    return answer.succeeded.response as Payload;
  }

  return {
    replayAll,
    runTask,
    forgetTask: () => void (doneUntilId = doneBeforeId),
    query,
    dispose: () => code.dispose(),
  };
}

const queryJob = (queryType: string): Job => ({
  variant: 'queryWorkflow',
  queryWorkflow: { queryId: 'legacy_query', queryType, arguments: [], headers: {} },
});

const jobsOf = (incoming: readonly HistoryEvent[], facts: ExecutionFacts): Job[] =>
  incoming.flatMap((event) => jobOf(event, facts) ?? []);

/** A timer that is canceled before the server heard of it never was. */
function withoutUnsent(commands: readonly Asked[]): Asked[] {
  const left: Asked[] = [];
  for (const command of commands) {
    const unsent =
      command.kind === 'timerCanceled'
        ? left.findIndex((it) => it.kind === 'timerStarted' && it.seq === command.seq)
        : -1;
    if (unsent === -1) left.push(command);
    else left.splice(unsent, 1);
  }
  return left;
}

export const isClosing = ({ kind }: { kind: string }): boolean => kind === 'completed' || kind === 'failed';
