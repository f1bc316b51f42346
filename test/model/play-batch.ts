/** Plays a batch, and judges each of its scenarios. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { openArena, type Arena } from './arena.ts';
import type { Batch, Deed } from './batch.ts';
import { judge, type Judgement } from './judge.ts';
import { play, type Part } from './play.ts';
import type { Done, Played, PlayedOperation } from './record.ts';
import { CLI } from '../support/processes.ts';

export interface Draw extends Judgement {
  index: number;
  /** When its batch began. */
  beganMs: number;
  played: Played;
  /** Whether a worker or server was killed during one of its runs. */
  killed: boolean;
}

/** No play takes this long. A run still open then never closes. */
const PATIENCE_MS = 300_000;
const OPERATIONS_CLOSE_MS = 120_000;

/** @param cli the program whose worker is tested */
export async function playBatch(batch: Batch, cli: string = CLI): Promise<Draw[]> {
  const checked = batch.scenarios.flatMap((it, index) => (it.checked ?? []).map((name) => prefixOf(index) + name));
  const arena = await openArena(cli, batch.workers, checked);
  try {
    const beganMs = Date.now();
    const over = new AbortController();
    const late = AbortSignal.timeout(PATIENCE_MS);
    setMaxListeners(0, late);
    const deeds = batch.deeds.map((deed) => perform(arena, deed, beganMs, over.signal));
    const parts = await Promise.all(
      batch.scenarios.map((scenario, index) => play(scenario, { arena, prefix: prefixOf(index), late })),
    );
    over.abort();
    const done = (await Promise.all(deeds)).filter((deed) => deed !== null);
    const operations = await closedOperations(arena);
    return parts.map((part, index) => ({ ...drawOf(part, index, operations, done), beganMs }));
  } finally {
    await arena.close();
  }
}

const prefixOf = (index: number): string => `x${index}-`;

function drawOf(part: Part, index: number, operations: PlayedOperation[], deeds: Done[]): Omit<Draw, 'beganMs'> {
  const own = operations.filter(({ workflowId }) => workflowId.includes(`:x${index}-`));
  const played: Played = { ...part, operations: own, deeds };
  const open = (atMs: number) =>
    part.runs.some(({ startedMs, closedMs }) => startedMs <= atMs && (closedMs ?? Infinity) >= atMs);
  const killed = deeds.some(({ what, fromMs }) => what.startsWith('SIGKILL') && open(fromMs));
  return { index, played, killed, ...judge(played) };
}

/** Null if its moment never came. */
async function perform(arena: Arena, deed: Deed, beganMs: number, over: AbortSignal): Promise<Done | null> {
  const { moment } = deed;
  let sent = 0;
  let looked = 0;
  const isTime = () => {
    if ('atMs' in moment) return Date.now() - beganMs >= moment.atMs;
    const { journal } = arena.sandbox;
    for (; looked < journal.length; looked += 1) if (journal[looked]!.request.startsWith('POST ')) sent += 1;
    return sent >= moment.posts;
  };
  while (!isTime()) {
    if (over.aborted) return null;
    // Fast enough to act between a request and the record of its answer.
    await sleep(2);
  }
  return inTurn(arena, deed);
}

/** One at a time, because two at once would undo each other. */
const turns = new WeakMap<Arena, Promise<unknown>>();

async function inTurn(arena: Arena, deed: Deed): Promise<Done> {
  const before = turns.get(arena) ?? Promise.resolve();
  const turn = before.then(async () => {
    const fromMs = Date.now();
    await arena.perform(deed);
    return { what: deed.what, forMs: deed.forMs, fromMs, toMs: Date.now() };
  });
  turns.set(arena, turn);
  return turn;
}

/** Backups continue after their runs. A lock that is never released is found here. */
export async function closedOperations({ client }: Pick<Arena, 'client'>): Promise<PlayedOperation[]> {
  const deadlineMs = Date.now() + OPERATIONS_CLOSE_MS;
  for (;;) {
    const operations: PlayedOperation[] = [];
    for await (const info of client.workflow.list({ query: `WorkflowType IN ('backupServer', 'deploySite')` })) {
      const { workflowId, parentExecution, closeTime, status } = info;
      operations.push({
        workflowId,
        parentRunId: parentExecution?.runId ?? null,
        closedMs: closeTime?.getTime() ?? null,
        isTerminated: status.name === 'TERMINATED',
      });
    }
    if (operations.every(({ closedMs }) => closedMs !== null) || Date.now() > deadlineMs) return operations;
    await sleep(500);
  }
}
