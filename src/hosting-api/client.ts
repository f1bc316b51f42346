/** The client of the service's endpoints. Each call is one request, without retries or redirects. */
import { deploymentIds, isJson, parseCreatedBackup, parseJson, parseStatus } from './parse-answers.ts';
import { HostingApiError } from './errors.ts';
import { holdsSecret } from '../echo/index.ts';
import { type Answer, type Exchange, type SendPermit, hideInStatus } from './exchange.ts';
import { pacedExchange, type PacedOptions } from './pacer.ts';

interface DeployTarget {
  kind: 'site' | 'app';
  id: string;
}

/** The paths of apps, which the interface does not show. `{id}` stands for the app's id. */
interface AppPaths {
  deploy: string;
  latest: string;
}

export interface ClientOptions extends PacedOptions {
  /** Without these paths, apps cannot be deployed. */
  appPaths?: AppPaths | undefined;
  readTimeoutMs: number;
  triggerTimeoutMs: number;
}

export interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** The time for the whole answer. Default: the client's. */
  timeoutMs?: number;
}

export interface TriggerOptions extends ReadOptions {
  /** The same key for every attempt of one step. The service may ignore it. */
  idempotencyKey?: string;
  permit?: SendPermit;
}

export interface OperationStatus {
  /** The status as the service wrote it, trimmed. */
  status: string;
  /** The ids in an answer about a deployment, by the paths of their fields. Absent if there are none. */
  ids?: Readonly<Record<string, string>>;
}

/** Names the field that has the id of a deployment: its path, or `none`. Absent: fields are found by their names. */
interface IdField {
  idField?: string | undefined;
}

/** Every method throws a HostingApiError if it fails. */
export interface HostingApiClient {
  readonly deploysApps: boolean;
  triggerDeployment(target: DeployTarget, options?: TriggerOptions & IdField): Promise<Pick<OperationStatus, 'ids'>>;
  readLatestDeployment(target: DeployTarget, options?: ReadOptions & IdField): Promise<OperationStatus>;
  createBackup(serverId: string, options?: TriggerOptions): Promise<{ backupId: string }>;
  readBackup(backupId: string, options?: ReadOptions): Promise<OperationStatus>;
  /** Returns the service's clock, in whole seconds. Null if the answer about the backup does not report it. */
  readTime(backupId: string): Promise<number | null>;
}

const SITE_PATHS: AppPaths = { deploy: '/v1/sites/{id}/deploy', latest: '/v1/sites/{id}/deployments/latest' };

const backupPath = (backupId: string) => `/v1/backups/${segment(backupId)}`;

export function createHostingApiClient(options: ClientOptions): HostingApiClient {
  const get = async (
    path: string,
    { signal, timeoutMs = options.readTimeoutMs }: ReadOptions,
    parse: (answer: Answer) => OperationStatus,
  ) => ask(options, { method: 'GET', path, timeoutMs, signal }, parse);
  const post = async <T>(path: string, call: TriggerOptions, parse: (answer: Answer) => T) => {
    const { signal, timeoutMs = options.triggerTimeoutMs, idempotencyKey, permit } = call;
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return ask(options, { method: 'POST', path, timeoutMs, signal, headers, permit }, parse);
  };
  const pathOf = (endpoint: keyof AppPaths, { kind, id }: DeployTarget) => {
    const path = kind === 'site' ? SITE_PATHS[endpoint] : options.appPaths?.[endpoint];
    if (path === undefined) throw new TypeError('the paths of apps are not known');
    return path.replace('{id}', () => segment(id));
  };
  return {
    deploysApps: options.appPaths !== undefined,
    triggerDeployment: (target, call = {}) => post(pathOf('deploy', target), call, (answer) => idsOf(answer, call)),
    readLatestDeployment: (target, call = {}) =>
      get(pathOf('latest', target), call, (answer) => ({ ...readStatus(answer), ...idsOf(answer, call) })),
    createBackup: (serverId, call = {}) => post(`/v1/servers/${segment(serverId)}/backups`, call, readCreatedBackup),
    readBackup: (backupId, call = {}) => get(backupPath(backupId), call, readStatus),
    readTime: (backupId) => readTime(options, backupPath(backupId)),
  };
}

/** Every answer has the time, whatever its status. */
async function readTime(options: ClientOptions, path: string): Promise<number | null> {
  try {
    return (await pacedExchange(options, { method: 'GET', path, timeoutMs: options.readTimeoutMs })).dateMs;
  } catch (error) {
    if (error instanceof HostingApiError && error.kind === 'http') return error.dateMs;
    throw error;
  }
}

function readStatus({ body, token }: Answer): OperationStatus {
  return { status: hideInStatus(parseStatus(body), token) };
}

function readCreatedBackup({ body, token }: Answer): { backupId: string } {
  const backupId = parseCreatedBackup(body);
  if (holdsSecret(backupId, token)) throw new SyntaxError('the body has no usable field "id"');
  return { backupId };
}

/**
 * The interface does not show the answer to a trigger, so an empty body is accepted. A body that is not JSON is
 * rejected.
 */
function idsOf({ body, token }: Answer, { idField }: IdField): Pick<OperationStatus, 'ids'> {
  const found = body.trim() === '' ? [] : deploymentIds(parseJson(body), idField);
  const ids = found.filter(([, id]) => !holdsSecret(id, token));
  return ids.length === 0 ? {} : { ids: Object.fromEntries(ids) };
}

async function ask<T>(options: PacedOptions, call: Exchange, parse: (answer: Answer) => T): Promise<T> {
  const answer = await pacedExchange(options, call);
  try {
    return parse(answer);
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : 'the body cannot be read';
    const request = `${call.method} ${call.path}`;
    throw new HostingApiError({ kind: 'protocol', request, reason, sent: true, isJson: isJson(answer.body) });
  }
}

/** @throws TypeError for an id that would change the path */
function segment(id: string): string {
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" is not a valid id`);
  return encodeURIComponent(id);
}
