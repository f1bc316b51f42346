/** Waking whoever waits on a server or site: a signal, and the reads decide. A flood of events costs few signals. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { SIGNALS } from '../contract.ts';
import type { Claim, Hint, WakeInput } from '../event-contract.ts';
import { backupServerId, deploySiteId, waitingRunPrefixes } from '../ids.ts';
import { isDeaf } from './errors.ts';
import { quoted } from './list.ts';

/** A workflow takes ten thousand signals at most, and makes one hinted read a second. */
const MIN_GAP_MS = 1_000;
/** After so many to one workflow the next ones come more rarely. */
const MANY_SIGNALS = 100;
const LONG_GAP_MS = 10_000;
const MAX_RUNS = 200;

/** One for each worker. */
export function createWaker(client: Client): (input: WakeInput) => Promise<string[]> {
  const signal = createSignaller(client);
  return async ({ claim, except, ...named }) => {
    // Locks are found by their ids; runs that wait without one, for a backup that is there or a push, by a search.
    const locks = [
      ...(named.serverId === null ? [] : [backupServerId(named.serverId)]),
      ...(named.siteId === null ? [] : [deploySiteId(named.siteId)]),
    ];
    const wakeAll = async (ids: string[]) => {
      const others = ids.filter((id) => !except.includes(id));
      const there = await Promise.all(others.map((id) => signal(id, claim)));
      return others.filter((_, index) => there[index]);
    };
    const woken = await Promise.all([wakeAll(locks), waitingRuns(client, named).then(wakeAll)]);
    return woken.flat();
  };
}

async function waitingRuns(client: Client, named: Pick<WakeInput, 'serverId' | 'siteId'>): Promise<string[]> {
  const prefixes = waitingRunPrefixes(named).map((prefix) => `WorkflowId STARTS_WITH ${quoted(prefix)}`);
  if (prefixes.length === 0) return [];
  const ids: string[] = [];
  const query = `ExecutionStatus = 'Running' AND (${prefixes.join(' OR ')})`;
  for await (const { workflowId } of client.workflow.list({ query, pageSize: MAX_RUNS })) {
    if (ids.push(workflowId) >= MAX_RUNS) break;
  }
  return ids;
}

type Signaller = (workflowId: string, claim: Claim | null) => Promise<boolean>;

/** One signal a second at most, in a flood every ten, for each workflow and claim: who asks in between shares the next one. */
function createSignaller(client: Client): Signaller {
  const latest = new Map<string, { atMs: number; count: number; sent: Promise<boolean> }>();
  return (workflowId, claim) => {
    const key = JSON.stringify([workflowId, claim === null ? null : { ...claim, event: '' }]);
    const before = latest.get(key);
    const nowMs = Date.now();
    if (before !== undefined && before.atMs > nowMs) return before.sent;
    const count = (before?.count ?? 0) + 1;
    const gapMs = count > MANY_SIGNALS ? LONG_GAP_MS : MIN_GAP_MS;
    const atMs = Math.max(nowMs, (before?.atMs ?? 0) + gapMs);
    const sent = after(atMs - nowMs).then(() => send(client, workflowId, { claim }));
    latest.set(key, { atMs, count, sent });
    const forget = () => void (latest.get(key)?.sent === sent && latest.delete(key));
    setTimeout(forget, atMs - nowMs + LONG_GAP_MS).unref();
    return sent;
  };
}

/** @returns whether it is there, and hears */
async function send(client: Client, workflowId: string, hint: Hint): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).signal<[Hint]>(SIGNALS.hint, hint);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isDeaf(error)) return false;
    throw error;
  }
}

const after = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
