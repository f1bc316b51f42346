/** The one error of the client. Nothing in it comes from request headers: an axios error would carry the token. */

export type ServiceErrorKind =
  /** The service answered with a status that isn't 2xx. */
  | 'http'
  /** No connection, or one that broke. */
  | 'network'
  | 'timeout'
  /** A 2xx whose body isn't what the interface promises. */
  | 'protocol'
  /** There is no token to send. */
  | 'token';

export interface ServiceErrorFacts {
  kind: ServiceErrorKind;
  /** `POST /v1/sites/a1/deploy` */
  request: string;
  reason: string;
  /** False where the request certainly never left: no connection was made. */
  sent: boolean;
  httpStatus?: number;
  retryAfterMs?: number;
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly kind: ServiceErrorKind;
  readonly sent: boolean;
  readonly httpStatus: number | null;
  readonly retryAfterMs: number | null;

  constructor(facts: ServiceErrorFacts) {
    super(`${facts.request}: ${facts.reason}`);
    this.kind = facts.kind;
    this.sent = facts.sent;
    this.httpStatus = facts.httpStatus ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}
