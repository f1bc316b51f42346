/**
 * One workflow execution in the cache of a worker, as the SDK's core runs it: it replays what history has, makes local
 * activities inside the task, and hands over the commands when nothing is left to do.
 */
import type { Payload } from '@temporalio/common';
import { readCommand, type Asked, type LocalActivity, type Rejected } from './commands.ts';
import { compare } from './compare.ts';
import type { Commanded, CommandedEvent, HistoryEvent, Outcome, UpdateRequest } from './events.ts';
import { inOrder, jobOf, localJob, updateJob } from './jobs.ts';
import type { ExecutionFacts, Job, Sandboxes } from './sdk.ts';
import { stepsOf, withoutIds, type Step } from './steps.ts';

/** The end of a task: the commands, and whether it ends only to be taken again because a local activity takes long. */
export interface Completion {
  commands: Commanded[];
  /** Updates that the code has not accepted. */
  rejected: Rejected[];
  goesOn: boolean;
  /** Changes of the SDK's behaviour that the code now relies on. */
  flags: number[];
}

export interface TaskHost {
  nowMs(): number;
  /** @returns the outcome, whenever it is there */
  runLocal(local: LocalActivity): Promise<Outcome>;
  /** Asked while a local activity runs. @returns how long the answer to the query of this task takes; null: it has none */
  queryMs(): number | null;
  /** Resolves at that time. */
  until(ms: number): Promise<void>;
}

export interface Cached {
  /** Feeds all completed tasks of a history. @throws Nondeterminism */
  replayAll(history: readonly HistoryEvent[]): Promise<void>;
  /** @param history up to the start of the task @param updates that are new with it */
  runTask(history: readonly HistoryEvent[], updates: readonly UpdateRequest[], host: TaskHost): Promise<Completion>;
  /** The server has dropped the last task. Its events will be those of another one. */
  forgetTask(): void;
  /** @throws Error if the code has no such query */
  query(name: string): Promise<Payload>;
  dispose(): Promise<void>;
}

interface Resolved {
  local: LocalActivity;
  outcome: Outcome;
}

export async function openCached(sandboxes: Sandboxes, facts: ExecutionFacts): Promise<Cached> {
  const code = await sandboxes.open(facts);
  const running = new Map<number, LocalActivity>();
  const begun = new Set<number>();
  const done: Resolved[] = [];
  /** What the code has yet to see of a task that ended. */
  const unseen: Job[] = [];
  let isAsked = false;
  const known = new Set<number>();
  /** Ids of updates. */
  const accepted = new Set<string>();
  let doneUntilId = 0;
  let doneBeforeId = 0;
  let nowMs = 0;
  let wake = () => {};

  async function runTask(
    history: readonly HistoryEvent[],
    updates: readonly UpdateRequest[],
    host: TaskHost,
  ): Promise<Completion> {
    const steps = stepsOf(history, doneUntilId, updates.length > 0);
    const live = steps.pop();
    if (live?.commanded !== null) throw new Error('no task to do');
    for (const step of steps) await replay(step);
    [doneBeforeId, doneUntilId] = [doneUntilId, live.startedId];
    const jobs = updates.map((it) => updateJob(it, true));
    return make(live, [...jobsOf(live.incoming, facts), ...jobs], host);
  }

  async function activate(step: Step, jobs: Job[], atMs = step.atMs): Promise<(Commanded | Rejected)[]> {
    const isReplaying = step.commanded !== null;
    // In core the time of a workflow never goes back.
    nowMs = Math.max(nowMs, atMs);
    const activation = {
      atMs: nowMs,
      historyLength: step.startedId,
      isReplaying,
      jobs: inOrder(jobs),
      flags: step.flags,
    };
    const { commands, flags } = await code.activate(activation);
    for (const flag of flags) known.add(flag);
    const others = commands.filter(({ respondToQuery }) => !respondToQuery);
    if (others.length < commands.length) isAsked = false;
    const read = others.map(readCommand).map(failIfAccepted);
    for (const it of read) {
      if (it.kind === 'local') running.set(it.local.seq, it.local);
      if (it.kind === 'updateAccepted') accepted.add(it.updateId);
    }
    return read.filter((it) => it.kind !== 'local');
  }

  /** The SDK has one command for both. */
  function failIfAccepted(asked: Asked): Asked {
    if (asked.kind !== 'rejected' || !accepted.has(asked.updateId)) return asked;
    const { updateId, failure } = asked;
    return { kind: 'updateCompleted', updateId, acceptedId: 0, outcome: { failure } };
  }

  const newOf = (step: Step) => [...known].filter((flag) => !step.flags.includes(flag));

  /** Feeds a completed task again. @throws Nondeterminism */
  async function replay(step: Step): Promise<void> {
    const recorded = step.commanded ?? [];
    const made: Commanded[] = [];
    const updates = recorded.flatMap((it) => (it.kind === 'updateAccepted' && it.request ? [it.request] : []));
    const patches = recorded.flatMap((it) =>
      it.kind === 'patched' ? [{ notifyHasPatch: { patchId: it.patchId } }] : [],
    );
    let jobs: Job[] = [...patches, ...jobsOf(step.incoming, facts), ...updates.map((it) => updateJob(it, false))];
    let atMs = step.atMs;
    for (;;) {
      for (const marker of endedIn(recorded, running)) {
        const { seq, outcome, completedMs } = marker;
        const { type, summary } = running.get(seq)!;
        running.delete(seq);
        made.push({ ...withoutIds(marker), type, summary } as Commanded);
        atMs = Math.max(atMs, completedMs);
        jobs.push(localJob(seq, marker.type, outcome));
      }
      if (jobs.length === 0) break;
      take(made, [], await activate(step, jobs, atMs));
      jobs = [];
    }
    compare(`${facts.workflowId}, task ${step.startedId}`, made, recorded.map(withoutIds));
    doneUntilId = step.startedId;
  }

  async function make(step: Step, first: Job[], host: TaskHost): Promise<Completion> {
    const commands: Commanded[] = [];
    const rejected: Rejected[] = [];
    /** Ends it in this task. @returns nothing for one that another worker made, too, and whose result history has */
    const resolve = ({ local, outcome }: Resolved): Job[] => {
      if (!running.delete(local.seq)) return [];
      const { seq, type, summary } = local;
      commands.push({ kind: 'localActivity', seq, type, completedMs: host.nowMs(), outcome, summary });
      return [localJob(seq, type, outcome)];
    };
    const act = async (jobs: Job[], atMs?: number) => {
      if (jobs.length > 0) take(commands, rejected, await activate(step, jobs, atMs));
      // After a replay, those without an outcome in history are made again.
      for (const local of running.values()) {
        if (begun.has(local.seq)) continue;
        begun.add(local.seq);
        void host.runLocal(local).then((outcome) => {
          done.push({ local, outcome });
          wake();
        });
      }
    };
    // Core takes a task again before it times out.
    let isLate = false;
    void host.until(step.atMs + 0.8 * facts.taskTimeoutMs).then(() => {
      isLate = true;
      wake();
    });
    const isWaiting = () => running.size > 0 && !commands.some(isClosing);
    /** @returns whether core ends the task with the answer: with what has ended by then, which the code sees later */
    const answers = async () => {
      if (!isWaiting()) return false;
      const answerMs = isAsked ? 0 : host.queryMs();
      if (answerMs === null) return false;
      isAsked = true;
      await act([metadataQuery]);
      await host.until(host.nowMs() + answerMs);
      if (isAsked) return false;
      unseen.push(...done.splice(0).flatMap(resolve));
      return true;
    };
    const before = [...unseen.splice(0), ...done.splice(0).flatMap(resolve)];
    await act([...first, ...before], before.length > 0 ? host.nowMs() : step.atMs);
    let goesOn = await answers();
    while (isWaiting() && !goesOn) {
      const resolved = done.shift();
      const wasAsked = isAsked;
      if (resolved !== undefined) await act(resolve(resolved), host.nowMs());
      else if (!isLate) await new Promise<void>((resolve) => (wake = resolve));
      goesOn = isWaiting() && ((resolved === undefined && isLate) || (wasAsked && !isAsked));
    }
    return { commands, rejected, goesOn, flags: newOf(step) };
  }

  async function replayAll(history: readonly HistoryEvent[]): Promise<void> {
    for (const step of stepsOf(history, doneUntilId)) if (step.commanded !== null) await replay(step);
  }

  async function query(queryType: string): Promise<Payload> {
    const jobs = [queryJob(queryType)];
    const { commands } = await code.activate({
      atMs: nowMs,
      historyLength: doneUntilId,
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

/** The local activities in progress that the task ended. Core looks ahead, so those that began together end together. */
const endedIn = (recorded: readonly CommandedEvent[], running: ReadonlyMap<number, unknown>) =>
  recorded.filter((it) => it.kind === 'localActivity').filter(({ seq }) => running.has(seq));

const queryJob = (queryType: string, queryId = 'legacy_query'): Job => ({
  variant: 'queryWorkflow',
  queryWorkflow: { queryId, queryType, arguments: [], headers: {} },
});

/** What the UI asks for. All workflows answer it. */
const metadataQuery = queryJob('__temporal_workflow_metadata', 'of the task');

const jobsOf = (incoming: readonly HistoryEvent[], facts: ExecutionFacts): Job[] =>
  incoming.flatMap((event) => jobOf(event, facts) ?? []);

/** Adds commands. A timer that is canceled before the server heard of it never was. */
function take(commands: Commanded[], rejected: Rejected[], more: readonly (Commanded | Rejected)[]): void {
  for (const command of more) {
    if (command.kind === 'rejected') {
      rejected.push(command);
      continue;
    }
    const unsent =
      command.kind === 'timerCanceled'
        ? commands.findIndex((it) => it.kind === 'timerStarted' && it.seq === command.seq)
        : -1;
    if (unsent === -1) commands.push(command);
    else commands.splice(unsent, 1);
  }
}

export const isClosing = ({ kind }: { kind: string }): boolean => kind === 'completed' || kind === 'failed';
