/** Makes receipts of closed runs and rollouts from Temporal's records. */
import type { WorkflowExecutionDescription, Client } from '@temporalio/client';
import pMap from 'p-map';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { Payload } from '@temporalio/common';
import { APPROVAL_UPDATES, POST_ACTIVITIES, READ_ACTIVITIES, ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Receipt } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { closedAtOrAfter, listed, RUNS_AND_ROLLOUTS, runsAndRolloutsOn } from '../../client/list-filter.ts';
import { checkSince, checkWorkflowId } from '../../client/check-options.ts';
import { type Session, IN_PARALLEL } from '../../client/session.ts';
import { unlessMissing } from '../../client/read-workflow.ts';
import { toBelayError } from '../../client/to-belay-error.ts';
import { within } from '../../client/within.ts';
import {
  receiptOfRun,
  receiptOfRollout,
  type KnownOperation,
  type Answered,
  type Recorded,
  type SentPost,
} from './entries.ts';
import { factsIn, resultOfPost, type Events } from '../../client/runs/run-history.ts';
import { handleOf, statusOf } from '../../client/runs/run-status.ts';
import type { RolloutInput, RolloutResult } from '../rollouts/shapes.ts';
import { decoded, decodedFailure } from '../../client/decode-payloads.ts';
import type { ReadAnswer } from '../../contract/activities.ts';
import { type ApprovalAnswer, type CountedAnswer, planHash } from '../approvals/shapes.ts';

/** Every method throws a BelayError if it fails. */
export interface Receipts {
  /** Returns the receipt of a run or rollout. @throws BelayError `Usage` while it is in progress */
  get(workflowId: string, runId?: string): Promise<Receipt>;
  /** Lists the runs and rollouts that closed at or after this time, ISO 8601, the latest first. */
  closedSince(since: string): AsyncIterable<{ workflowId: string; runId: string }>;
}

type StatusOfRollout = (
  session: Session,
  described: WorkflowExecutionDescription,
) => Promise<{ result: RolloutResult }>;

export function createReceipts(session: Session, statusOfRollout: StatusOfRollout): Receipts {
  const { client, taskQueue } = session;
  return {
    get: (workflowId, runId) =>
      bounded(session, workflowId, async () => {
        checkWorkflowId(workflowId, 'belay list');
        const described = await describe(session, workflowId, runId);
        if (described.status.name === 'RUNNING')
          throw new BelayError('Usage', `${workflowId} is still running: wait for its end`);
        if (described.type !== ROLLOUT_TYPE) return runReceipt(session, described);
        const { result } = await statusOfRollout(session, described);
        return rolloutReceipt(session, described, result);
      }),
    async *closedSince(since) {
      checkSince(since);
      const query = `${runsAndRolloutsOn(taskQueue)} AND ${closedAtOrAfter(since)}`;
      try {
        for await (const { workflowId, runId } of listed(client, query)) yield { workflowId, runId };
      } catch (error) {
        throw toBelayError(error, 'list runs');
      }
    },
  };
}

/** Bounds the time of one run or rollout: a rollout has many runs, and each run gets its own limit. */
const bounded = <T>(session: Session, workflowId: string, act: () => Promise<T>): Promise<T> =>
  within(session, TIMING.client.listMs, `read ${workflowId}`, act);

async function describe(
  { client }: Session,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription> {
  const described = await client.workflow.getHandle(workflowId, runId).describe();
  if (RUNS_AND_ROLLOUTS.includes(described.type)) return described;
  const remedy = 'use the id of a run from `belay list`, or of a rollout from `belay rollout list`';
  throw new BelayError('NotFound', `${workflowId} is a ${described.type}, of which there is no receipt: ${remedy}`);
}

/** Null for a run that continues without its rollout, and for a run that Temporal has deleted. */
function hashOfRun(session: Session, workflowId: string): Promise<string | null> {
  return bounded(session, workflowId, async () => {
    const described = await describe(session, workflowId);
    return described.status.name === 'RUNNING' ? null : (await runReceipt(session, described)).hash;
  }).catch((error: unknown) => {
    if (error instanceof BelayError && error.type === 'NotFound') return null;
    throw error;
  });
}

/* The receipt of a closed run shows its history and those of its operations. */

async function runReceipt(session: Session, described: WorkflowExecutionDescription): Promise<Receipt> {
  const { client } = session;
  const { type } = described;
  const { result } = await statusOf(session, described);
  const events = (await handleOf(session, described).fetchHistory()).events ?? [];
  const { input, operations: started } = await factsIn(client, events);
  const operations = await Promise.all(
    started.map(async ({ workflowId: id, runId }) => {
      const history = await unlessMissing(client.workflow.getHandle(id, runId).fetchHistory());
      const facts = history === null ? null : await operationFacts(client, history.events ?? []);
      // Each workflow has its own retention, which begins as it closes.
      const missing = `Temporal has deleted ${id} (${runId}): its requests, and the status before them, are not known`;
      return { id, ...(facts ?? { baseline: null, posts: [], missing }) };
    }),
  );
  // A run of a rollout starts with what was approved for its rollout. Its input can be any JSON.
  const approved = Array.isArray(input?.approved) ? input.approved : [];
  const given = approved.map((it) => ({ ...it, rejection: null }));
  const answered = [...given, ...(await answeredIn(client, events))];
  const known = { namespace: client.options.namespace, type, input, result, answered, operations };
  return receiptOfRun(recordedIn(described, events), known);
}

function recordedIn({ workflowId, runId }: WorkflowExecutionDescription, [first]: Events): Recorded {
  const executionId = first?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? '';
  return { workflowId, runId, ...(['', runId].includes(executionId) ? {} : { executionId }) };
}

/* The receipt of a closed rollout contains the hashes of its runs' receipts, which tell what the runs did. */

async function rolloutReceipt(
  session: Session,
  described: WorkflowExecutionDescription,
  result: RolloutResult,
): Promise<Receipt> {
  const { client } = session;
  const events = (await handleOf(session, described).fetchHistory()).events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const input = await decoded<RolloutInput>(client, started?.input?.payloads);
  const answered = await answeredIn(client, events);
  const targets = await pMap(
    result.targets,
    async (it) => ({ ...it, receipt: it.workflowId === null ? null : await hashOfRun(session, it.workflowId) }),
    IN_PARALLEL,
  );
  const known = { namespace: client.options.namespace, input, result, answered, targets };
  return receiptOfRollout(recordedIn(described, events), known);
}

/*
 * Reads from the history of an operation what its result leaves out: the status before the request, and each request.
 */

type OperationFacts = Omit<KnownOperation, 'id'>;
type Event = Events[number];

export async function operationFacts(client: Client, events: Events): Promise<OperationFacts> {
  let baseline: OperationFacts['baseline'] = null;
  const posts = new Map<string, SentPost>();
  const reads = new Set<string>();
  for (const event of events) {
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
    if (READ_ACTIVITIES.includes(type)) reads.add(String(event.eventId));
    if (POST_ACTIVITIES.includes(type)) posts.set(String(event.eventId), await postIn(client, event));
    const completed = event.activityTaskCompletedEventAttributes;
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    const scheduledId = String((completed ?? failed)?.scheduledEventId);
    const post = posts.get(scheduledId);
    if (post !== undefined) {
      const error = await decodedFailure(client, failed?.failure);
      post.answeredAt = timeOf(event);
      post.result = completed ? 'accepted' : (error?.message ?? 'it is not known');
      if (failed && resultOfPost(error).kind !== 'ambiguous') post.effect = 'none';
    }
    if (!completed || posts.size > 0 || !reads.has(scheduledId)) continue;
    const read = await decoded<ReadAnswer>(client, completed.result?.payloads);
    if (read?.ok === true) baseline = { at: timeOf(event), status: read.status };
  }
  return { baseline, posts: [...posts.values()] };
}

async function postIn(client: Client, event: Event): Promise<SentPost> {
  const payloads = event.activityTaskScheduledEventAttributes?.input?.payloads;
  const idempotencyKey = (await decoded<{ idempotencyKey?: string }>(client, payloads))?.idempotencyKey ?? null;
  return { at: timeOf(event), idempotencyKey, answeredAt: null, result: null };
}

function timeOf({ eventTime }: Event): string | null {
  const ms = optionalTsToMs(eventTime);
  return ms === undefined ? null : new Date(ms).toISOString();
}

/* Reads people's answers from a history. An update event keeps the answer, and the plan that it counted for. */

interface Sent {
  name: string;
  payloads: Payload[] | null | undefined;
}

/** @returns the questions with an answer that counted, in order */
export async function answeredIn(client: Client, events: Events): Promise<Answered[]> {
  const sent = new Map<string, Sent>();
  const answered = new Map<string, Answered>();
  for (const event of events) {
    const { name, args } = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input ?? {};
    if (name === APPROVAL_UPDATES.approve || name === APPROVAL_UPDATES.reject)
      sent.set(String(event.eventId), { name, payloads: args?.payloads });
    const ended = event.workflowExecutionUpdateCompletedEventAttributes;
    const update = sent.get(String(ended?.acceptedEventId));
    if (update === undefined) continue;
    const counted = await decoded<CountedAnswer>(client, ended?.outcome?.success?.payloads);
    const answer = await decoded<ApprovalAnswer>(client, update.payloads);
    if (counted !== null && answer !== null) record(answered, update.name, answer, counted);
  }
  return [...answered.values()];
}

function record(
  answered: Map<string, Answered>,
  name: string,
  { by, why, proof }: ApprovalAnswer,
  { plan, at }: CountedAnswer,
): void {
  const hash = planHash(plan);
  const question = answered.get(hash) ?? { plan, yeses: [], rejection: null };
  answered.set(hash, question);
  const answer = { by, why, at, proof };
  if (name === APPROVAL_UPDATES.reject) question.rejection = answer;
  else question.yeses.push(answer);
}
