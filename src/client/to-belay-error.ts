/** Turns the errors of Temporal's client into BelayErrors. */
import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { RunResult } from '../contract/run.ts';
import { PayloadError } from '../encryption/payload-codec.ts';
import {
  CHECK_NAMESPACE,
  GRPC,
  codeOf,
  grpcCause,
  isAttributeError,
  isClosed,
  isMissingNamespace,
  isDenied,
  isLimited,
  isUnreachable,
} from './transport/grpc-errors.ts';
import { BelayError } from '../contract/errors.ts';
import { messageOf } from '../contract/safe-text.ts';

/** Leaves out the number and name of the gRPC code. */
const detailsOf = (cause: unknown): string => (isGrpcServiceError(cause) ? cause.details : '') || messageOf(cause);

/** An id written by hand often has the key as it was given, such as `feature/x`. */
function idHint(workflowId: string): string {
  const encoded = workflowId.replace(/[^\w.!~*'()%:\p{Surrogate}-]/gu, encodeURIComponent);
  return encoded === workflowId
    ? '`belay list` and `belay rollout list` show what there is'
    : `each part of an id is percent-encoded, so it may be ${encoded}`;
}

/** @param what the failed action, such as `list runs` @param result what is known of the run */
export function toBelayError(error: unknown, what: string, result: RunResult | null = null): BelayError {
  if (error instanceof BelayError) return error;
  if (error instanceof WorkflowNotFoundError) {
    const { workflowId, runId } = error;
    const [named, ids] = runId === undefined ? ['', 'id'] : [` with the run id ${runId}`, 'ids'];
    const remedy = `check the ${ids}: ${idHint(workflowId)}; Temporal also deletes runs some time after they close`;
    return new BelayError('NotFound', `there is no ${workflowId}${named}: ${remedy}`, result);
  }
  if (error instanceof PayloadError) return new BelayError('Usage', `cannot ${what}: ${error.message}`, result);
  if (isClosed(error)) {
    return new BelayError('Usage', `cannot ${what}: the connection was closed: connect again`, result);
  }
  const cause = grpcCause(error);
  const message = detailsOf(cause);
  if (isMissingNamespace(error))
    return new BelayError('Usage', `cannot ${what}: ${message.replace(/\.$/, '')}: ${CHECK_NAMESPACE}`, result, {
      cause: error,
    });
  if (isUnreachable(error)) {
    return new BelayError('TemporalUnreachable', `cannot ${what}: Temporal does not answer`, result);
  }
  const code = codeOf(cause);
  if (isLimited(error)) {
    const limited = `cannot ${what}: Temporal limits the calls of this namespace: ${message}`;
    return new BelayError('TemporalUnreachable', `${limited}: try again later`, result);
  }
  if (code === GRPC.notFound) return new BelayError('NotFound', `cannot ${what}: ${message}`, result);
  if (isAttributeError(error)) {
    const remedy =
      'the namespace lacks search attributes of Belay: run `belay doctor`, without BELAY_SEARCH_ATTRIBUTES=off';
    return new BelayError('Usage', `cannot ${what}: ${message}: ${remedy}`, result);
  }
  if (code === GRPC.invalidArgument) return new BelayError('Usage', `cannot ${what}: ${message}`, result);
  if (isDenied(error)) return new BelayError('Usage', `cannot ${what}: Temporal denies access: ${message}`, result);
  return new BelayError('Internal', `cannot ${what}: ${message}`, result, { cause: error });
}
