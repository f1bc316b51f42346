/** What Temporal's client throws, in our words. */
import { isGrpcDeadlineError, isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { RunResult } from '../../contract/run.ts';
import { BelayError } from '../../contract/results/belay-error.ts';

/** gRPC's own numbers: https://grpc.io/docs/guides/status-codes/ */
const UNAVAILABLE = 14;
/** What answers isn't Temporal. */
const UNIMPLEMENTED = 12;
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

/** Temporal did not answer: it may do so later. */
export function isUnreachable(error: unknown): boolean {
  const cause = grpcCause(error);
  return isGrpcDeadlineError(cause) || [UNAVAILABLE, UNIMPLEMENTED].includes(codeOf(cause) ?? 0);
}

/** @param what was tried: `list runs` @param result what is known of it */
export function asBelayError(error: unknown, what: string, result: RunResult | null = null): BelayError {
  if (error instanceof BelayError) return error;
  if (error instanceof WorkflowNotFoundError) {
    const remedy = 'check the id; Temporal also forgets runs that closed too long ago';
    return new BelayError('NotFound', `there is no ${error.workflowId}: ${remedy}`, result);
  }
  const cause = grpcCause(error);
  const said = cause instanceof Error ? cause.message : String(cause);
  if (isUnreachable(error)) {
    return new BelayError('TemporalUnreachable', `cannot ${what}: Temporal does not answer`, result);
  }
  const code = codeOf(cause);
  if (code === NOT_FOUND) return new BelayError('NotFound', `cannot ${what}: ${said}`, result);
  if (code === INVALID_ARGUMENT) return new BelayError('Usage', `cannot ${what}: ${said}`, result);
  if (code === PERMISSION_DENIED || code === UNAUTHENTICATED) {
    return new BelayError('Usage', `cannot ${what}: Temporal refuses: ${said}`, result);
  }
  return new BelayError('Internal', `cannot ${what}: ${said}`, result, { cause: error });
}

/** The workflow has had as many signals as Temporal lets one have: it can't be told anything any more. */
export function isDeaf(error: unknown): boolean {
  const cause = grpcCause(error);
  return codeOf(cause) === INVALID_ARGUMENT && /limit for signal/i.test(cause instanceof Error ? cause.message : '');
}

/** The SDK wraps some gRPC errors in an error of its own. */
function grpcCause(error: unknown): unknown {
  return error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
}

function codeOf(error: unknown): number | null {
  return isGrpcServiceError(error) ? error.code : null;
}
