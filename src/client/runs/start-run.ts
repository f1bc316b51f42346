/** Starts a run, once per key. */
import { isDeepStrictEqual } from 'node:util';
import {
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { RunInput, RunMemo } from '../../contract/run.ts';
import { targetAttribute, targetsOf } from '../../contract/target.ts';
import { startInDoubt, traceStart, underKey } from '../start.ts';
import type { RunType } from '../../contract/names.ts';
import { runWorkflowId } from '../../contract/ids.ts';
import { runStartOptions, sameOverride } from '../../request/start-options.ts';
import { attributesOfRun, attributePairs, type Attributes } from '../../request/search-attributes.ts';
import { startProblem, typeOf } from '../../request/input/start-request.ts';
import { withFittingMeta } from '../../request/limits.ts';
import { planRun } from '../../request/run-options.ts';
import { BelayError } from '../../contract/errors.ts';
import { unlessMissing } from '../read-workflow.ts';
import { toBelayError } from '../to-belay-error.ts';
import { historyFacts } from './run-history.ts';
import { createRun, type Run } from './run-handle.ts';
import { emptyResult } from '../../contract/results.ts';
import { refuseUnknown } from '../check-options.ts';
import type { Session } from '../session.ts';
import { requireWorkers } from '../workers.ts';
import { findService } from '../find-service.ts';
import { isServed, type ServedService } from '../../contract/service-identity.ts';
import { epochOf } from '../../contract/worker-identity.ts';
import { TIMING } from '../../contract/timing.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { codeSpan, plainText } from '../../contract/safe-text.ts';
import { isAttributeError } from '../transport/grpc-errors.ts';

export interface StartOptions {
  /**
   * Default: derived from the input, which may name a backup, deployments, or both. Without a type, `start` throws
   * `Usage` for a `serverId` that is there, but undefined, and for such `siteIds` or `targets` if neither has a value.
   */
  type?: RunType;
  /**
   * The idempotency key. If its run is in progress, `start` attaches to it; if its run has closed, the stored result is
   * returned. Default: a new key.
   */
  key?: string;
  /** Starts again if the run of the key has closed and is not `completed`. Default: false. */
  again?: boolean;
}

const START_OPTIONS: Record<keyof StartOptions, true> = { type: true, key: true, again: true };

export async function startRun(session: Session, given: RunInput, options: StartOptions): Promise<Run> {
  refuseUnknown('start', options, START_OPTIONS);
  const asked = withFittingMeta(given);
  const type = options.type ?? typeOf(asked);
  const { key } = options;
  const { again = false } = options;
  const problem = problemOfAgain(again, key) ?? startProblem(options.type, asked, key);
  if (problem !== null) throw new BelayError('Usage', problem);
  return underKey(key, (used, ifTaken) =>
    startOnce(session, asked, { type, workflowId: runWorkflowId(type, asked, used), again, ifTaken }),
  );
}

function problemOfAgain(again: unknown, key: string | undefined): string | null {
  if (typeof again !== 'boolean') return 'again: is neither true nor false';
  return again && key === undefined ? 'again: requires a key' : null;
}

interface StartDetails {
  type: RunType;
  workflowId: string;
  again: boolean;
  ifTaken: 'attach' | 'fail';
}

/** @throws BelayError, and WorkflowExecutionAlreadyStartedError if the id is taken and `ifTaken` is `fail` */
async function startOnce(
  session: Session,
  asked: RunInput,
  { type, workflowId, again, ifTaken }: StartDetails,
): Promise<Run> {
  let request: Request = { input: asked, served: null };
  const startMs = Date.now();
  try {
    const handle = await session.client.withDeadline(Date.now() + TIMING.client.startMs, async () => {
      request = await addressed(session, asked);
      if (again) await refuseOtherRequest(session, workflowId, request);
      return startInDoubt(workflowId, emptyResult({ workflowId }), () =>
        start(session, { type, input: request.input, workflowId, again }),
      );
    });
    const runId = handle.firstExecutionRunId;
    const attributes = { server: asked.serverId, sites: targetsOf(asked).map(targetAttribute).join(' ') || undefined };
    traceStart(session, type, { startMs, workflowId, runId, workflowHasSpan: true, attributes });
    return createRun(session, { workflowId, runId, attached: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError))
      throw toBelayError(error, `start ${workflowId}`, emptyResult({ workflowId }));
    if (ifTaken === 'fail') throw error;
    return attach(session, workflowId, request);
  }
}

/** Adds the service and epoch of the workers to what is asked of them, and who decided its exceptions. */
export async function addressed<I extends Pick<RunInput, 'override' | 'noCheck'>>(session: Session, asked: I) {
  const workers = await requireWorkers(session);
  const served = await findService(session, workers);
  const { by } = session;
  const { override, noCheck } = asked;
  const input = {
    ...(served === null ? {} : { service: served.service }),
    ...epochOf(workers),
    // A field that is undefined would displace what stands before it.
    ...(definedFields(asked) as I),
    ...(override === undefined ? {} : { override: { by, ...definedFields(override) } }),
    ...(noCheck === undefined ? {} : { noCheck: { by, ...definedFields(noCheck) } }),
  };
  return { input, served };
}

interface Request {
  input: RunInput;
  served: ServedService | null;
}

/** Temporal checks atomically whether the id is taken, so two concurrent starts yield one run. */
async function start(
  session: Session,
  { type, input, workflowId, again }: { type: RunType; input: RunInput; workflowId: string; again: boolean },
): Promise<WorkflowHandle & { firstExecutionRunId: string }> {
  const { client, taskQueue, by } = session;
  const { memo, ...options } = runStartOptions(input, { type, startedBy: codeSpan(by) });
  return startWithAttributes(session, attributesOfRun(input), (attributes) =>
    client.workflow.start(type, {
      ...options,
      memo: { ...memo, by: plainText(by) },
      ...attributes,
      workflowId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: again ? 'ALLOW_DUPLICATE_FAILED_ONLY' : 'REJECT_DUPLICATE',
    }),
  );
}

async function attach(session: Session, workflowId: string, request: Request): Promise<Run> {
  const runId = await refuseOtherRequest(session, workflowId, request).catch((error: unknown) =>
    Promise.reject(toBelayError(error, `attach to ${workflowId}`)),
  );
  return createRun(session, { workflowId, runId, attached: true });
}

/** @returns the run with this id, or null. @throws BelayError `KeyReused` if it was started with other input */
async function refuseOtherRequest(session: Session, workflowId: string, request: Request): Promise<string | null> {
  const handle = session.client.workflow.getHandle(workflowId);
  const described = await unlessMissing(handle.describe());
  if (described === null) return null;
  // A run started from another language has no memo.
  const before =
    (described.memo as Partial<RunMemo> | undefined)?.input ?? (await historyFacts(session.client, handle)).input;
  const isSame = before !== null && isDeepStrictEqual(requestOf(before), requestOf(request.input));
  if (isSame && isSameService(before, request)) return described.runId;
  const remedy = 'use another key, or repeat the same input';
  const result = emptyResult({ workflowId, runId: described.runId });
  throw new BelayError('KeyReused', `${workflowId} was started with other input: ${remedy}`, result);
}

/** Leaves out `meta`, because the next attempt of a CI job may carry other values. */
function requestOf(input: RunInput) {
  const { serverId, fleet, heartbeat, override, noCheck } = input;
  const deploysUntil = definedFields({ ...input.deploysUntil });
  const exceptions = [sameOverride(override), noCheck?.reason];
  return [serverId, fleet, targetsOf(input), deploysUntil, heartbeat, exceptions, planRun(input)];
}

/** A run that was started from the UI may name no service. */
function isSameService(before: RunInput, { input, served }: Request): boolean {
  if (before.service === undefined || input.service === undefined) return true;
  return before.service === input.service || (served !== null && isServed(before.service, served));
}

/* Starts a workflow with its search attributes, if the namespace has them. Without them, a worker sets what it can. */

async function startWithAttributes<T>(
  { setsAttributes }: Pick<Session, 'setsAttributes'>,
  attributes: Attributes,
  start: (options: Pick<WorkflowStartOptions, 'typedSearchAttributes'>) => Promise<T>,
): Promise<T> {
  if (!setsAttributes) return start({});
  try {
    return await start({ typedSearchAttributes: attributePairs(attributes) });
  } catch (error) {
    if (isAttributeError(error)) return start({});
    throw error;
  }
}
