/** One harmless question to the service before a worker polls, so that a wrong configuration is seen at once. */
import { ServiceError, type ServiceClient } from '../hosting-api/index.ts';

/** No backup has this id; a service that doesn't know it and says so has let us in. */
const PROBE_ID = 'belay-probe';

export type Probe = { state: 'ok' } | { state: 'refused' | 'unreachable'; message: string };

export async function probeService(service: ServiceClient): Promise<Probe> {
  try {
    await service.readBackup(PROBE_ID);
    return { state: 'ok' };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.httpStatus === 401 || error.httpStatus === 403) {
      return { state: 'refused', message: `the service refuses the API token: ${error.message}` };
    }
    const answered = error.httpStatus !== null && error.httpStatus < 500;
    return answered
      ? { state: 'ok' }
      : { state: 'unreachable', message: `the service cannot be asked: ${error.message}` };
  }
}
