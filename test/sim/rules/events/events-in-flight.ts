/** What tests of events need: operations that end only when a test ends them, and runs that wait for them. */
import assert from 'node:assert/strict';
import type { RunResult } from '../../../../src/contract/run.ts';
import { backupServerId, sharedBackupId } from '../../../../src/contract/ids.ts';
import { began, reads } from '../../../support/journal.ts';
import { fresh } from '../../../support/fresh.ts';
import { inVirtualTime, MOMENT_MS, type StackOptions, type VirtualStack } from '../../stack/stack.ts';
import { memoOf } from '../../temporal/client.ts';
import type { Run } from '../../temporal/types.ts';
import type { BackupRecord } from '../../../../src/contract/operation.ts';
import { latest, phaseOf } from '../runs/runs-that-wait.ts';

/** Reads so rare that only hints cause one during a test. */
export const RARE = { intervalMs: 1_800_000, tries: 2 };

export const withEvents = (body: (stack: VirtualStack) => Promise<void>, more: StackOptions = {}) =>
  inVirtualTime(body, { defaults: { backup: { ends: 'never' }, deployment: { ends: 'never' } }, ...more });

export const backupOf = ({ sandbox, until }: VirtualStack, serverId: string): Promise<string> =>
  until('the backup', () => began(sandbox, 'backup', serverId)[0]?.began?.id);

export const readsOfBackup = ({ sandbox }: VirtualStack, backupId: string): number =>
  reads(sandbox, `/v1/backups/${backupId}`).length;

/** An event ends a wait within this time; the next read is due long after it. */
export const SOON_MS = 60_000;

/** The result of a run whose wait an event has just ended. */
export async function soonOver({ world, result }: VirtualStack, run: Run): Promise<RunResult> {
  const fromMs = world.clock.nowMs;
  const ended = await result(run);
  assert.ok(run.closedMs! - fromMs < SOON_MS, `it ended ${run.closedMs! - fromMs} ms after the event`);
  return ended;
}

/** A run that waits for its backup. */
export async function backingUp(stack: VirtualStack, backup = RARE) {
  const serverId = fresh('s');
  const run = stack.start({ serverId, siteIds: [], backup });
  const backupId = await backupOf(stack, serverId);
  const operationId = backupServerId(serverId);
  await stack.until('the wait', () => phaseOf(stack, operationId) === 'wait');
  await stack.forward(MOMENT_MS);
  return { serverId, run, backupId, operationId };
}

/** A run that waits for a deployment whose early reads are over. @returns also how to count its reads */
export async function deploying(stack: VirtualStack, siteId: string, type?: 'watchDeployment') {
  const run = stack.start({ siteIds: [siteId], deploy: RARE }, type === undefined ? {} : { type });
  await stack.forward(60_000);
  return { run, readsOfIt: () => reads(stack.sandbox, latest(siteId)).length };
}

/** The backup that runs of this server may adopt, as events announced it. */
export const announced = ({ world }: VirtualStack, serverId: string): string | undefined => {
  const record = world.server.find(sharedBackupId(serverId));
  return record === undefined ? undefined : memoOf<{ record?: BackupRecord }>(record).record?.backupId;
};
