/**
 * Tells older runs about a newer run that covers their work. Each run decides for itself. A run we miss meets the newer
 * one when it asks for the lock.
 */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import pMap from 'p-map';
import { coveredRunPrefixes } from '../../contract/ids.ts';
import { SIGNALS } from '../../contract/names.ts';
import type { RunMemo } from '../../contract/run.ts';
import type { NewerRun } from './shapes.ts';
import { targetsOf } from '../../contract/target.ts';
import { covers } from './rules.ts';
import { firstListed, quoted, RUNNING } from '../../client/list-filter.ts';
import { IN_PARALLEL } from '../../client/session.ts';
import { isTaken } from '../../client/lookups/signals.ts';

const MAX_RUNS = 200;
const PREFIXES_AT_ONCE = 50;

/** @returns the workflow ids of the runs that received the signal */
export async function signalOlderRuns(client: Client, newer: NewerRun): Promise<string[]> {
  const prefixes = coveredRunPrefixes(newer.work);
  const found: WorkflowExecutionInfo[] = [];
  for (let first = 0; first < prefixes.length && found.length < MAX_RUNS; first += PREFIXES_AT_ONCE) {
    const some = prefixes.slice(first, first + PREFIXES_AT_ONCE);
    const query = `${RUNNING} AND (${some.map((it) => `WorkflowId STARTS_WITH ${quoted(it)}`).join(' OR ')})`;
    const left = MAX_RUNS - found.length;
    found.push(...(await firstListed(client, query, left, MAX_RUNS, (run) => isCovered(run, newer))));
  }
  const signalled = ({ workflowId, runId }: WorkflowExecutionInfo) =>
    isTaken(client.workflow.getHandle(workflowId, runId).signal<[NewerRun]>(SIGNALS.superseded, newer));
  const notified = await pMap(found, signalled, IN_PARALLEL);
  return found.filter((_, index) => notified[index]).map(({ workflowId }) => workflowId);
}

/** A run that another client started may have no memo, or one that this worker cannot decode. It judges for itself. */
function isCovered({ runId, type, memo }: WorkflowExecutionInfo, newer: NewerRun): boolean {
  const { input } = (memo ?? {}) as Partial<RunMemo>;
  if (runId === newer.runId || type !== newer.work.type) return false;
  return input === undefined || covers(newer.work, { serverId: input.serverId ?? null, targets: targetsOf(input) });
}
