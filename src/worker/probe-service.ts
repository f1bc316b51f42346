/** One harmless read, so that a wrong URL or token shows up before it spoils a run. */
import { PROBE_BACKUP_ID } from '../contract/names.ts';
import { HostingApiError, type HostingApiClient } from '../hosting-api/index.ts';

export type Probe = { state: 'ok' } | { state: 'refused' | 'unreachable' | 'not_the_service'; message: string };

/** @param url for messages */
export async function probeService(service: HostingApiClient, url: string): Promise<Probe> {
  try {
    await service.readBackup(PROBE_BACKUP_ID);
    return { state: 'ok' };
    // A 404 means that the service accepted the token.
  } catch (error) {
    if (!(error instanceof HostingApiError)) throw error;
    return judge(error, url);
  }
}

function judge({ httpStatus, isJson, kind, message }: HostingApiError, url: string): Probe {
  if (kind === 'token') return { state: 'refused', message: `the API token cannot be used: ${message}` };
  if (httpStatus === 401 || httpStatus === 403) {
    return { state: 'refused', message: `the service rejects the API token: ${message}` };
  }
  if (kind === 'network' || kind === 'timeout' || kind === 'held_back' || (httpStatus !== null && httpStatus >= 500)) {
    return { state: 'unreachable', message: `cannot reach the service: ${message}` };
  }
  const isClientError = httpStatus === null || httpStatus >= 400;
  if (isJson && isClientError) return { state: 'ok' };
  return { state: 'not_the_service', message: `${url} does not look like the service: ${message}` };
}
