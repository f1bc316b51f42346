/** When to make the tries of an operation, learned from how long the ones before it took. */
import type { BackupServerInput, DeploySiteInput } from '../../contract/operation.ts';
import { identitiesOf } from '../../contract/service-identity.ts';
import { localLookup } from '../common/activity-proxies.ts';

/** @returns milliseconds after the acceptance; empty to make one at each interval */
export async function learnTries(lockId: string, input: BackupServerInput | DeploySiteInput): Promise<number[]> {
  const { polling, intervalMs, tries } = input;
  if (polling !== 'learned') return [];
  const summary = 'learn when to read from past durations';
  const query = { lockId, services: identitiesOf(input), intervalMs, tries };
  const learned = await localLookup.learnReads.executeWithOptions({ summary }, [query]).catch(() => null);
  return learned ?? [];
}
