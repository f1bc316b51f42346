/** The client of the service's four endpoints. One call is one request: nothing is retried, no redirect followed. */
import { marksOf, parseCreatedBackup, parseJson, parseStatus } from './parse-answers.ts';
import { ServiceError } from './errors.ts';
import { exchange, type Exchange, type HttpOptions } from './exchange.ts';

/** Time for a whole answer; a read beyond it is cheap to repeat, a trigger is not. */
const READ_TIMEOUT_MS = 3_500;
const TRIGGER_TIMEOUT_MS = 8_000;

export interface ReadOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
}

export interface TriggerOptions extends ReadOptions {
  /** The same for every attempt at one step. The service need not know it. */
  idempotencyKey?: string;
  /** Beyond this, milliseconds since 1970, nothing is sent. */
  notAfterMs?: number;
}

export interface OperationStatus {
  /** As the service wrote it, trimmed. */
  status: string;
  /** What the answer says of the record's identity, `id:17` for one. */
  marks: string[];
}

/** @throws ServiceError, from every call */
export interface ServiceClient {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  triggerDeployment(siteId: string, options?: TriggerOptions): Promise<{ marks: string[] }>;
  readLatestDeployment(siteId: string, options?: ReadOptions): Promise<OperationStatus>;
  createBackup(serverId: string, options?: TriggerOptions): Promise<{ backupId: string }>;
  readBackup(backupId: string, options?: ReadOptions): Promise<OperationStatus>;
}

export function createServiceClient(options: HttpOptions): ServiceClient {
  const get = async (path: string, { signal, timeoutMs = READ_TIMEOUT_MS }: ReadOptions) =>
    ask(options, { method: 'GET', path, timeoutMs, signal }, parseStatus);
  const post = async <T>(path: string, call: TriggerOptions, parse: (body: string) => T) => {
    const { signal, timeoutMs = TRIGGER_TIMEOUT_MS, idempotencyKey, notAfterMs } = call;
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return ask(options, { method: 'POST', path, timeoutMs, signal, headers, notAfterMs }, parse);
  };
  return {
    origin: new URL(options.baseUrl).origin,
    triggerDeployment: (siteId, call = {}) => post(`/v1/sites/${segment(siteId)}/deploy`, call, parseTriggered),
    readLatestDeployment: (siteId, call = {}) => get(`/v1/sites/${segment(siteId)}/deployments/latest`, call),
    createBackup: (serverId, call = {}) =>
      post(`/v1/servers/${segment(serverId)}/backups`, call, (body) => ({ backupId: parseCreatedBackup(body) })),
    readBackup: (backupId, call = {}) => get(`/v1/backups/${segment(backupId)}`, call),
  };
}

/** The shape of this answer isn't shown, so an empty body will do; one that isn't JSON will not. */
function parseTriggered(body: string): { marks: string[] } {
  return { marks: body.trim() === '' ? [] : marksOf(parseJson(body)) };
}

async function ask<T>(options: HttpOptions, call: Exchange, parse: (body: string) => T): Promise<T> {
  const body = await exchange(options, call);
  try {
    return parse(body);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the body cannot be read';
    throw new ServiceError({ kind: 'protocol', request: `${call.method} ${call.path}`, reason, sent: true });
  }
}

/** @throws TypeError for an id that would change the path */
function segment(id: string): string {
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" is no id`);
  return encodeURIComponent(id);
}
