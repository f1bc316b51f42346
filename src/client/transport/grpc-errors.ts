/** Interprets the gRPC errors of Temporal's client. */
import { isGrpcDeadlineError, isGrpcServiceError, ServiceError } from '@temporalio/client';
import { usualProxies } from '../../config/environment/service-url.ts';

/** https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  /** The namespace makes too many calls. */
  resourceExhausted: 8,
  failedPrecondition: 9,
  /** The server that answers is not Temporal. */
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/**
 * True if the time for a call is over. The server may cancel such a call before the client ends it. A broken connection
 * may cancel its calls, too.
 */
export function isOutOfTime(error: unknown): boolean {
  const cause = grpcCause(error);
  return isGrpcDeadlineError(cause) || codeOf(cause) === GRPC.cancelled;
}

/** True if Temporal did not answer, but may do so later. */
export function isUnreachable(error: unknown): boolean {
  const cause = grpcCause(error);
  return isOutOfTime(cause) || [GRPC.unavailable, GRPC.unimplemented].some((it) => it === codeOf(cause));
}

/** True for a query that Temporal answered without a worker: no worker answered in time, or none polls. */
export function isUnanswered(error: unknown): boolean {
  return isOutOfTime(error) || codeOf(grpcCause(error)) === GRPC.failedPrecondition;
}

/** True if Temporal does not accept the credentials, or if they do not allow the call. */
export function isDenied(error: unknown): boolean {
  const code = codeOf(grpcCause(error));
  return code === GRPC.permissionDenied || code === GRPC.unauthenticated;
}

/**
 * True if Temporal delays the call because the namespace makes too many. A message that is too big has the same code.
 */
export function isLimited(error: unknown): boolean {
  const cause = grpcCause(error);
  const { code, details, message } = (cause ?? {}) as { code?: unknown; details?: string; message?: string };
  return code === GRPC.resourceExhausted && !/larger than max/i.test(`${details} ${message}`);
}

/** True if the workflow has reached Temporal's signal limit and accepts no more signals. */
export function isSignalLimitError(error: unknown): boolean {
  return isInvalid(error, /limit for signal/i);
}

/** True if the namespace lacks a search attribute, or has it with another type. */
export function isAttributeError(error: unknown): boolean {
  return isInvalid(error, /search attribute/i);
}

/** True if the namespace of the connection does not exist. The SDK has an error of its own for most calls. */
export function isMissingNamespace(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'NamespaceNotFoundError') return true;
  const isThis = codeOf(error) === GRPC.notFound && /namespace .*not found/i.test(error.message);
  return isThis || isMissingNamespace(error.cause);
}

export const isClosed = (error: unknown): boolean =>
  error instanceof Error && [error, grpcCause(error)].some((it) => /channel has been shut down/i.test(String(it)));

function isInvalid(error: unknown, message: RegExp): boolean {
  const cause = grpcCause(error);
  return codeOf(cause) === GRPC.invalidArgument && cause instanceof Error && message.test(cause.message);
}

/** The SDK wraps some gRPC errors in an error of its own. */
export function grpcCause(error: unknown): unknown {
  return error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
}

export function codeOf(error: unknown): number | null {
  return isGrpcServiceError(error) ? error.code : null;
}

export const START_TEMPORAL = 'start `belay dev`, or set TEMPORAL_ADDRESS to the address of Temporal';
export const CHECK_CREDENTIALS = 'check the API key or the client certificate, and the namespace that they are for';
export const CHECK_NAMESPACE = 'check TEMPORAL_NAMESPACE, or the namespace of the profile or of connect()';

/** Returns the end of a sentence, which is empty if the environment names no proxy. */
export function proxiesNotUsed(): string {
  const names = usualProxies();
  if (names.length === 0) return '';
  return `; Belay uses no proxy for Temporal, and ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set`;
}

/** @returns an address for messages, with the port that is used if it has none */
export const reachedAddress = (address: string): string =>
  /:\d+$/.test(address) ? address : `${address}, port 7233 because it names none`;
