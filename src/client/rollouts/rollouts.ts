/** Starting rollouts, once per key, trying again what isn't completed, and listing them. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import {
  ROLLOUT_TYPE,
  type RolloutInput,
  type RolloutMemo,
  type RolloutResult,
  type TargetResult,
} from '../../contract/rollout.ts';
import { rolloutId } from '../../contract/ids/workflow-ids.ts';
import { requestHash, rolloutLaunchOf } from '../../request/start-options.ts';
import { problemOfRollout } from '../../request/validate-rollout-input.ts';
import { someAtOnce } from '../connection/at-once.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { asBelayError } from '../connection/to-belay-error.ts';
import { inputOf } from '../runs/run-history.ts';
import { newest, quoted } from '../connection/list-filter.ts';
import { createRollout, describeRollout, rolloutStatus, type Rollout } from './rollout-handle.ts';
import type { Session } from '../session.ts';
import { lookUp } from './look-up-server-run.ts';
import { refuseWithoutWorker } from '../connection/pollers.ts';

const START_TIMEOUT_MS = 5_000;
const RETRY_TIMEOUT_MS = 30_000;
const LIST_TIMEOUT_MS = 20_000;
const DEFAULT_LIMIT = 20;

export interface RolloutFilter {
  /** Started at or after this time, ISO 8601. */
  since?: string;
  /** Default 20. */
  limit?: number;
}

/** @throws BelayError, from every call */
export interface Rollouts {
  /** Starts a rollout, or attaches to the one of the same name and key. */
  start(input: RolloutInput): Promise<Rollout>;
  /** One that was started before. Nothing is asked until a call on it. */
  get(workflowId: string, runId?: string): Rollout;
  /** Starts one that ended anew, with what isn't `completed`. */
  retry(workflowId: string): Promise<Rollout>;
  /** Newest first, without their targets. */
  list(filter?: RolloutFilter): Promise<RolloutResult[]>;
}

export function createRollouts(session: Session): Rollouts {
  const within = <T>(ms: number, what: string, act: () => Promise<T>) =>
    session.client.withDeadline(Date.now() + ms, act).catch((error: unknown) => {
      throw asBelayError(error, what);
    });
  return {
    start: (input) => within(START_TIMEOUT_MS, 'start the rollout', () => startRollout(session, input)),
    get: (workflowId, runId) => createRollout(session, { workflowId, runId: runId ?? null, attached: true }),
    retry: (workflowId) => within(RETRY_TIMEOUT_MS, `retry ${workflowId}`, () => retryRollout(session, workflowId)),
    list: (filter = {}) => within(LIST_TIMEOUT_MS, 'list rollouts', () => listRollouts(session, filter)),
  };
}

async function startRollout(session: Session, input: RolloutInput): Promise<Rollout> {
  const problem = problemOfRollout(input);
  if (problem !== null) throw new BelayError('Usage', problem);
  const workflowId = rolloutId(input.name, input.key);
  await refuseWithoutWorker(session);
  try {
    const runId = await begin(session, workflowId, input, 'REJECT_DUPLICATE', requestHash(input));
    return createRollout(session, { workflowId, runId, attached: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const { memo, runId } = await describeRollout(session.client.workflow.getHandle(workflowId));
  if ((memo as Partial<RolloutMemo> | undefined)?.request !== requestHash(input)) {
    const remedy = 'use another key, or ask for the same again';
    throw new BelayError('KeyReused', `${workflowId} was started with other input: ${remedy}`);
  }
  return createRollout(session, { workflowId, runId, attached: true });
}

async function begin(
  { client, taskQueue }: Session,
  workflowId: string,
  input: RolloutInput,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  request: string,
): Promise<string> {
  const handle = await client.workflow.start(ROLLOUT_TYPE, {
    ...rolloutLaunchOf(input, request),
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy,
  });
  return handle.firstExecutionRunId;
}

async function retryRollout(session: Session, workflowId: string): Promise<Rollout> {
  // How far a terminated one was, only a worker knows.
  await refuseWithoutWorker(session);
  const handle = session.client.workflow.getHandle(workflowId);
  const { result, contact } = await rolloutStatus(session, handle);
  if (contact !== 'closed') {
    throw new BelayError('Usage', `${workflowId} goes on: wait for its end, or abort it first`);
  }
  const { memo, runId } = await describeRollout(handle);
  const input = await inputOf<RolloutInput>(session.client.workflow.getHandle(workflowId, runId));
  if (input === null || result.targets.length === 0) {
    throw new BelayError('Usage', `nothing is known of how far ${workflowId} was: start a rollout with another key`);
  }
  const targets = await someAtOnce(result.targets, async (it) => {
    const { target, goesOn } = await lookUp(session, it);
    if (!goesOn) return target;
    throw new BelayError('Usage', `${target.workflowId} goes on: wait for its end, or cancel it first`);
  });
  if (targets.every(({ outcome }) => outcome === 'completed')) {
    throw new BelayError('Usage', `everything in ${workflowId} is completed: there is nothing to retry`);
  }
  const { request } = memo as unknown as RolloutMemo;
  const attempt = nextAttempt(input, targets);
  const next = await begin(session, workflowId, attempt, 'ALLOW_DUPLICATE', request).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new BelayError('Usage', `${workflowId} is being retried already: wait for its end`);
  });
  return createRollout(session, { workflowId, runId: next, attached: false });
}

function nextAttempt(input: RolloutInput, targets: TargetResult[]): RolloutInput {
  const left = targets.filter(({ outcome }) => outcome !== 'completed');
  const names = [...new Set(left.map(({ wave }) => wave))];
  const isDone = ({ outcome }: { outcome: unknown }) => outcome === 'completed';
  return {
    ...input,
    attempt: (input.attempt ?? 1) + 1,
    before: targets.filter(isDone),
    waves: names.map((name) => ({
      name,
      targets: left
        .filter(({ wave }) => wave === name)
        .map(({ serverId, deployments }) => ({
          serverId,
          siteIds: deployments.filter((it) => !isDone(it)).map(({ siteId }) => siteId),
          done: deployments.filter(isDone).map(({ siteId }) => siteId),
        })),
    })),
  };
}

async function listRollouts(
  session: Session,
  { since, limit = DEFAULT_LIMIT }: RolloutFilter,
): Promise<RolloutResult[]> {
  const ofType = `WorkflowType = ${quoted(ROLLOUT_TYPE)}`;
  const query = since === undefined ? ofType : `${ofType} AND StartTime >= ${quoted(since)}`;
  return someAtOnce(await newest(session, query, limit), async ({ workflowId, runId }) => {
    const { result } = await rolloutStatus(session, session.client.workflow.getHandle(workflowId, runId));
    return { ...result, targets: [] };
  });
}
