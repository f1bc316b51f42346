/** The only error of the client. It holds nothing from the request headers, because those contain the token. */

export type HostingApiErrorKind =
  /** The service answered with a status that is not 2xx. */
  | 'http'
  /** There was no connection, or it broke. */
  | 'network'
  | 'timeout'
  /** The service answered with 2xx, but the body does not match the interface. */
  | 'protocol'
  /** The token could not be read. */
  | 'token'
  /** Nothing was sent now, because the service asked for a pause, or because of the ceiling. */
  | 'held_back';

export interface HostingApiErrorFacts {
  kind: HostingApiErrorKind;
  /** `POST /v1/sites/a1/deploy` */
  request: string;
  reason: string;
  /** False if the request was certainly not sent, because no connection was made. */
  sent: boolean;
  httpStatus?: number;
  isJson?: boolean;
  retryAfterMs?: number;
  dateMs?: number | null;
}

export class HostingApiError extends Error {
  override readonly name = 'HostingApiError';
  readonly kind: HostingApiErrorKind;
  /** The message without the request. */
  readonly reason: string;
  readonly sent: boolean;
  readonly httpStatus: number | null;
  readonly isJson: boolean;
  readonly retryAfterMs: number | null;
  readonly dateMs: number | null;

  constructor(facts: HostingApiErrorFacts) {
    super(`${facts.request}: ${facts.reason}`);
    this.kind = facts.kind;
    this.reason = facts.reason;
    this.sent = facts.sent;
    this.httpStatus = facts.httpStatus ?? null;
    this.isJson = facts.isJson ?? false;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.dateMs = facts.dateMs ?? null;
  }

  /** True if the service asks its callers to wait: 429, or 503 with a time. */
  get asksForPause(): boolean {
    return this.httpStatus === 429 || (this.httpStatus === 503 && this.retryAfterMs !== null);
  }
}
