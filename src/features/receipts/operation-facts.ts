/** Reads from the history of an operation what its result leaves out: the status before the request, and each request. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { ReadAnswer } from '../../contract/activities.ts';
import type { KnownOperation } from './entries.ts';
import { decoded } from '../../client/decode-payloads.ts';
import type { Events } from '../../client/runs/run-history.ts';

const READS: readonly string[] = ['readLatestDeployment', 'readBackup'];
const POSTS: readonly string[] = ['triggerDeployment', 'createBackup'];

type OperationFacts = Omit<KnownOperation, 'id'>;
type SentPost = OperationFacts['posts'][number];
type Event = Events[number];

export async function operationFacts(client: Client, operation: WorkflowHandle): Promise<OperationFacts> {
  const { events } = await operation.fetchHistory();
  const facts: OperationFacts = { baseline: null, posts: [] };
  const posts = new Map<string, SentPost>();
  const reads = new Set<string>();
  for (const event of events ?? []) {
    await schedule(client, event, { facts, posts, reads });
    close(event, posts);
    const read = facts.posts.length > 0 ? null : await readIn(client, event, reads);
    if (read?.ok === true) facts.baseline = { at: timeOf(event), status: read.status };
  }
  return facts;
}

interface Known {
  facts: OperationFacts;
  posts: Map<string, SentPost>;
  reads: Set<string>;
}

async function schedule(client: Client, event: Event, { facts, posts, reads }: Known): Promise<void> {
  const { activityType, input } = event.activityTaskScheduledEventAttributes ?? {};
  const id = String(event.eventId);
  if (READS.includes(activityType?.name ?? '')) reads.add(id);
  if (!POSTS.includes(activityType?.name ?? '')) return;
  const asked = await decoded<{ idempotencyKey?: string }>(client, input?.payloads);
  const post = { at: timeOf(event), idempotencyKey: asked?.idempotencyKey ?? null, answeredAt: null, result: null };
  posts.set(id, post);
  facts.posts.push(post);
}

function close(event: Event, posts: Map<string, SentPost>): void {
  const completed = event.activityTaskCompletedEventAttributes;
  const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
  const post = posts.get(String((completed ?? failed)?.scheduledEventId));
  if (post === undefined) return;
  post.answeredAt = timeOf(event);
  post.result = completed ? 'accepted' : (failed?.failure?.message ?? 'it is not known');
}

async function readIn(client: Client, event: Event, reads: ReadonlySet<string>): Promise<ReadAnswer | null> {
  const completed = event.activityTaskCompletedEventAttributes;
  if (!completed || !reads.has(String(completed.scheduledEventId))) return null;
  return decoded<ReadAnswer>(client, completed.result?.payloads);
}

function timeOf({ eventTime }: Event): string | null {
  const ms = optionalTsToMs(eventTime);
  return ms === undefined ? null : new Date(ms).toISOString();
}
