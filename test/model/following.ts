/** Starts, follows and cancels a run through outages of Temporal or its workers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunInput, RunResult } from '../../src/contract/run.ts';
import { targetsInput, targetsOf } from '../../src/contract/target.ts';
import { BelayError, type Run } from '../../src/starter.ts';
import type { Stage } from './play.ts';
import type { PlayedRun } from './record.ts';
import type { RunDraw } from './run-draws.ts';

const TRY_AGAIN_MS = 250;

export interface StartedRun {
  run: Run;
  played: PlayedRun;
}

let keys = 0;

/** Retries the start until Temporal and a worker are available. The key keeps it one run. */
export async function startPatiently(stage: Stage, draw: RunDraw): Promise<StartedRun | null> {
  const { arena, late } = stage;
  const [input, startedMs] = [inputOf(stage, draw), Date.now()];
  const key = draw.key === '' ? `r${(keys += 1)}` : draw.key;
  while (!late.aborted) {
    try {
      const run = await arena.belay.start(input, { type: draw.type, key, again: draw.again });
      const { workflowId, runId } = run;
      const ids = { type: draw.type, workflowId, runId: runId ?? '', input };
      return { run, played: { ...ids, startedMs, cancelledMs: null, closedMs: null, result: null, waitsEnded: [] } };
    } catch (error) {
      if (!(error instanceof BelayError)) throw error;
      if (error.type === 'KeyReused') return null;
      if (error.type !== 'TemporalUnreachable' && error.type !== 'NoWorker' && error.type !== 'Internal') throw error;
      await sleep(TRY_AGAIN_MS);
    }
  }
  return null;
}

function inputOf({ arena: { sandbox }, prefix }: Stage, { input, given }: RunDraw): RunInput {
  const serverId = input.serverId === undefined ? undefined : prefix + input.serverId;
  const other = sandbox.journal.findLast(
    ({ by, began }) => by === 'outside' && began?.kind === 'backup' && began.target === serverId,
  );
  return {
    ...input,
    ...targetsInput(targetsOf(input).map(({ kind, id }) => ({ kind, id: prefix + id }))),
    ...(serverId === undefined ? {} : { serverId }),
    ...(given && other?.began ? { backup: { ...input.backup, backupId: other.began.id } } : {}),
  };
}

export async function follow({ run, played }: StartedRun, late: AbortSignal): Promise<void> {
  const [result, closed] = await endOf({ run, played }, late);
  played.result = result;
  played.closedMs = closed ? Date.now() : null;
}

async function endOf({ run, played }: StartedRun, late: AbortSignal): Promise<[RunResult | null, closed: boolean]> {
  while (!late.aborted) {
    try {
      return [await run.result({ signal: late }), true];
    } catch (error) {
      if (!(error instanceof BelayError)) throw error;
      if (error.type !== 'TemporalUnreachable' && error.type !== 'StoppedWaiting') return [error.result, true];
      if (!late.aborted) played.waitsEnded.push(`${error.type}: ${error.message}`);
    }
  }
  return [null, false];
}

export async function cancel({ late }: Stage, started: Promise<StartedRun | null> | undefined): Promise<void> {
  const it = await started;
  if (it === undefined || it === null) return;
  it.played.cancelledMs = Date.now();
  while (!late.aborted) {
    const error = await it.run.cancel().then(
      () => null,
      (problem: unknown) => problem,
    );
    if (error === null || (error instanceof BelayError && error.type === 'NotFound')) return;
    await sleep(TRY_AGAIN_MS);
  }
}
