/** Starts rollouts, once per key, retries unfinished ones and lists them. */
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import pMap from 'p-map';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RolloutInput, RolloutMemo, RolloutResult } from './shapes.ts';
import type { FreezeOverride } from '../freezes/shapes.ts';
import { rolloutId } from '../../contract/ids.ts';
import { isSameRequest, requestHash, rolloutStartOptions } from '../../request/rollout-start-options.ts';
import { validateRolloutInput } from '../../request/input/rollout-input.ts';
import { BelayError } from '../../contract/errors.ts';
import { within } from '../../client/within.ts';
import { newest, ofType } from '../../client/list-filter.ts';
import { startInDoubt, traceStart, underKey } from '../../client/start.ts';
import { inputOf } from '../../client/decode-payloads.ts';
import {
  createRollout,
  type Rollout,
  lookUpServerRun,
  describeRollout,
  listedRollout,
  rolloutStatus,
  statusOfRollout,
} from './client-handle.ts';
import { checkWorkflowId, refuseUnknown } from '../../client/check-options.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { withFittingMeta } from '../../request/limits.ts';
import { recordedOutcome } from '../../client/runs/list-runs.ts';
import { withLink } from '../../client/ui-link.ts';
import { PayloadError } from '../../encryption/payload-codec.ts';
import { addressed } from '../../client/runs/start-run.ts';
import { requireWorkers } from '../../client/workers.ts';
import { TIMING } from '../../contract/timing.ts';
import { definedFields, isRecord } from '../../contract/plain-object.ts';
import { codeSpan, shellWord } from '../../contract/safe-text.ts';
import { epochOf } from '../../contract/worker-identity.ts';
import { targetsInput } from '../../contract/target.ts';

export interface RolloutFilter {
  /** Only rollouts started at or after this time, ISO 8601. Default: all. */
  since?: string;
  /** How many rollouts to return. Default: 20. */
  limit?: number;
}

const ROLLOUT_FILTER: Record<keyof RolloutFilter, true> = { since: true, limit: true };

/** A rollout without a key gets a new key. */
type NewRollout = Omit<RolloutInput, 'key'> & Partial<Pick<RolloutInput, 'key'>>;

/** Every method throws a BelayError if it fails. */
export interface Rollouts {
  /**
   * Starts a rollout, or attaches to the rollout with the same name and key. Throws `Usage` for an unknown field of the
   * input.
   */
  start(input: NewRollout): Promise<Rollout>;
  /** Returns a handle to a rollout that was started before. It sends nothing until you call one of its methods. */
  get(workflowId: string, runId?: string): Rollout;
  /**
   * Starts a closed rollout again. It measures the gates that did not pass, then starts the servers and targets that
   * are not `completed`.
   */
  retry(workflowId: string): Promise<Rollout>;
  /** Lists rollouts, the newest first, without their targets. */
  list(filter?: RolloutFilter): Promise<RolloutResult[]>;
}

/** @returns what is left of an override that was given at `since`, ISO 8601; undefined if nothing is */
export type LeftOfOverride = (
  session: Session,
  override: FreezeOverride,
  since: string,
) => Promise<FreezeOverride | undefined>;

export function createRollouts(session: Session, leftOfOverride: LeftOfOverride): Rollouts {
  return {
    start: (input) => within(session, TIMING.client.startMs, 'start the rollout', () => startRollout(session, input)),
    get(workflowId, runId) {
      checkWorkflowId(workflowId, 'belay rollout list');
      return createRollout(session, { workflowId, runId: runId ?? null, attached: true });
    },
    retry: (workflowId) =>
      within(session, TIMING.client.retryRolloutMs, `retry ${workflowId}`, () =>
        retryRollout(session, workflowId, leftOfOverride),
      ),
    list: (filter = {}) => within(session, TIMING.client.listMs, 'list rollouts', () => listRollouts(session, filter)),
  };
}

async function startRollout(session: Session, given: NewRollout): Promise<Rollout> {
  if (!isRecord(given)) throw new BelayError('Usage', 'the input is not an object');
  const { key, ...asked } = withFittingMeta(given);
  return underKey(key, (used, ifTaken) => startOnce(session, { ...asked, key: used }, ifTaken));
}

async function startOnce(session: Session, asked: RolloutInput, ifTaken: 'attach' | 'fail'): Promise<Rollout> {
  const problem = validateRolloutInput(asked);
  if (problem !== null) throw new BelayError('Usage', problem);
  const { input, served } = await addressed(session, asked);
  const workflowId = rolloutId(input.name, input.key);
  try {
    const runId = await begin(session, workflowId, input, 'REJECT_DUPLICATE', requestHash(input));
    return createRollout(session, { workflowId, runId, attached: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError) || ifTaken === 'fail') throw error;
  }
  const described = await describeRollout(session.client.workflow.getHandle(workflowId));
  if (!isSameRequest(await requestOf(session, described), input, served)) {
    const remedy = 'use another key, or repeat the same input';
    throw new BelayError('KeyReused', `${workflowId} was started with other input: ${remedy}`);
  }
  return createRollout(session, { workflowId, runId: described.runId, attached: true });
}

/**
 * @returns the hash of the first attempt's input; undefined without an input. @throws BelayError `KeyReused` if only the
 * input of a later attempt is known
 */
async function requestOf({ client }: Session, described: WorkflowExecutionDescription): Promise<string | undefined> {
  const { workflowId, runId } = described;
  const { request } = (described.memo ?? {}) as Partial<RolloutMemo>;
  if (request !== undefined) return request;
  // A rollout started from the UI or from another language has no memo.
  const before = await inputOf<RolloutInput>(client, workflowId, runId);
  if (!isRecord(before)) return undefined;
  const { attempt = 1 } = before;
  if (attempt === 1) return requestHash(before);
  const problem = `attempt ${attempt} of ${workflowId} was started without a memo, so its first input is not known`;
  throw new BelayError(
    'KeyReused',
    `${problem}: wait for it with \`belay wait ${shellWord(workflowId)}\`, or use another key`,
  );
}

async function begin(
  session: Session,
  workflowId: string,
  input: RolloutInput,
  workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE',
  request: string,
): Promise<string> {
  const { client, taskQueue, by } = session;
  const startMs = Date.now();
  const handle = await startInDoubt(workflowId, null, () =>
    client.workflow.start(ROLLOUT_TYPE, {
      ...rolloutStartOptions(input, { startedBy: codeSpan(by) }, request),
      workflowId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy,
    }),
  );
  const runId = handle.firstExecutionRunId;
  traceStart(session, ROLLOUT_TYPE, { startMs, workflowId, runId, workflowHasSpan: true });
  return runId;
}

async function retryRollout(session: Session, workflowId: string, leftOfOverride: LeftOfOverride): Promise<Rollout> {
  checkWorkflowId(workflowId, 'belay rollout list');
  // Only a worker knows the progress of a terminated rollout.
  const workers = await requireWorkers(session);
  // Everything comes from this attempt, because someone else may retry it meanwhile.
  const described = await describeRollout(session.client.workflow.getHandle(workflowId));
  const { result, contact } = await statusOfRollout(session, described);
  if (contact !== 'closed') {
    throw new BelayError('Usage', `${workflowId} is still running: wait for it to finish, or abort it first`);
  }
  const { memo, runId } = described;
  const input = await inputOf<RolloutInput>(session.client, workflowId, runId);
  if (input === null || result.targets.length === 0) {
    throw new BelayError('Usage', `the progress of ${workflowId} is unknown: start a rollout with another key`);
  }
  const targets = await pMap(
    result.targets,
    async (it) => {
      const { target, isRunning } = await lookUpServerRun(session, it);
      if (!isRunning) return target;
      throw new BelayError('Usage', `${target.workflowId} is still running: wait for it to finish, or cancel it first`);
    },
    IN_PARALLEL,
  );
  const { override, ...rest } = input;
  const left = override && (await leftOfOverride(session, override, result.startedAt ?? ''));
  const attempt = nextAttempt(
    { ...rest, ...definedFields({ override: left }) },
    { ...result, targets },
    epochOf(workers),
  );
  if (attempt.waves.length === 0) {
    throw new BelayError('Usage', `everything in ${workflowId} is completed: there is nothing to retry`);
  }
  const { request = requestHash(input) } = (memo ?? {}) as Partial<RolloutMemo>;
  const next = await begin(session, workflowId, attempt, 'ALLOW_DUPLICATE', request).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    throw new BelayError('Usage', `${workflowId} is already being retried: wait for it to finish`);
  });
  return createRollout(session, { workflowId, runId: next, attached: false });
}

async function listRollouts(session: Session, filter: RolloutFilter): Promise<RolloutResult[]> {
  refuseUnknown('rollouts.list', filter, ROLLOUT_FILTER);
  return pMap(
    await newest(session, ofType(ROLLOUT_TYPE), filter),
    async (info) => {
      const handle = session.client.workflow.getHandle(info.workflowId, info.runId);
      const result = await rolloutStatus(session, handle).then(
        (status) => status.result,
        (error: unknown) => {
          // The list lags, so Temporal may have deleted it since.
          const isUnreadable = error instanceof PayloadError;
          if (!isUnreadable && !(error instanceof WorkflowNotFoundError)) throw error;
          const isOpen = isUnreadable && info.status.name === 'RUNNING';
          const known = listedRollout(isUnreadable ? { ...info, unreadable: error.message } : info);
          return withLink(session, { ...known, outcome: recordedOutcome(info) ?? (isOpen ? null : 'unknown') });
        },
      );
      return { ...result, targets: [] };
    },
    IN_PARALLEL,
  );
}

/* Makes the input of a retry: what the last attempt did not complete, wave by wave. Pure. */

/**
 * Leaves out a completed wave, unless its gates have not passed. Such a wave keeps no server, and the retry measures it
 * before it starts a later wave.
 *
 * @returns an input without waves if nothing is left
 */
export function nextAttempt(
  before: RolloutInput,
  { targets, passedWaves = [] }: Pick<RolloutResult, 'targets'> & Partial<Pick<RolloutResult, 'passedWaves'>>,
  epoch: { epoch?: string },
): RolloutInput {
  const input = { ...before };
  delete input.epoch;
  const left = targets.filter(({ outcome }) => outcome !== 'completed');
  const isLeft = ({ name, after }: RolloutInput['waves'][number]) =>
    left.some(({ wave }) => wave === name) || (after !== undefined && !passedWaves.includes(name));
  // A retry is a new start, so its deadline counts from now.
  const { deploysUntil } = input;
  const isDone = ({ outcome }: { outcome: unknown }) => outcome === 'completed';
  return {
    ...input,
    ...epoch,
    ...(deploysUntil && { deploysUntil: { time: deploysUntil.time, timeZone: deploysUntil.timeZone } }),
    attempt: (input.attempt ?? 1) + 1,
    previousResults: targets.filter(isDone),
    passedWaves,
    waves: input.waves.filter(isLeft).map((wave) => ({
      ...wave,
      targets: left
        .filter((it) => it.wave === wave.name)
        .map(({ serverId, deployments }) => ({
          serverId,
          ...targetsInput(deployments.filter((it) => !isDone(it)).map((it) => it.target)),
          completedTargets: deployments.filter(isDone).map((it) => it.target),
        })),
    })),
  };
}
