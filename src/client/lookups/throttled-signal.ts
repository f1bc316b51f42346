/** Signals that a flood of events asks for: few, for a workflow takes ten thousand at most. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { isDeaf } from '../connection/to-belay-error.ts';

const MIN_GAP_MS = 1_000;
/** After so many of one kind to one workflow the next ones come more rarely. */
const MANY_SIGNALS = 100;
const LONG_GAP_MS = 10_000;

/** @returns whether the workflow is there, and hears */
export type Signaller<T> = (workflowId: string, argument: T) => Promise<boolean>;

/**
 * One signal a second at most, in a flood every ten, for each workflow and kind: who asks in between shares the next.
 * @param kindOf what makes two of them the same, as JSON
 */
export function createSignaller<T>(client: Client, name: string, kindOf: (argument: T) => unknown): Signaller<T> {
  const latest = new Map<string, { atMs: number; count: number; sent: Promise<boolean> }>();
  const send = async (workflowId: string, argument: T): Promise<boolean> => {
    try {
      await client.workflow.getHandle(workflowId).signal<[T]>(name, argument);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || isDeaf(error)) return false;
      throw error;
    }
  };
  return (workflowId, argument) => {
    const key = JSON.stringify([workflowId, kindOf(argument)]);
    const before = latest.get(key);
    const nowMs = Date.now();
    if (before !== undefined && before.atMs > nowMs) return before.sent;
    const count = (before?.count ?? 0) + 1;
    const gapMs = count > MANY_SIGNALS ? LONG_GAP_MS : MIN_GAP_MS;
    const atMs = Math.max(nowMs, (before?.atMs ?? 0) + gapMs);
    const sent = after(atMs - nowMs).then(() => send(workflowId, argument));
    latest.set(key, { atMs, count, sent });
    const forget = () => void (latest.get(key)?.sent === sent && latest.delete(key));
    setTimeout(forget, atMs - nowMs + LONG_GAP_MS).unref();
    return sent;
  };
}

const after = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
