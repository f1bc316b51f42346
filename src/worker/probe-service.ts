/** Makes one harmless read, so that a wrong URL or token shows up before it spoils a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PROBE_BACKUP_ID } from '../contract/names.ts';
import { HostingApiError, type HostingApiClient } from '../hosting-api/index.ts';
import { TIMING } from '../contract/timing.ts';
import type { Rest } from '../activities/failures.ts';
import type { Logger } from '../process/log.ts';

export type Probe = { state: 'ok' } | { state: 'refused' | 'unreachable' | 'not_the_service'; message: string };

/** @param url for messages */
export async function probeService(service: HostingApiClient, url: string): Promise<Probe> {
  try {
    await service.readBackup(PROBE_BACKUP_ID);
    return { state: 'ok' };
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
  // A 404 means that the service accepted the token.
  const isClientError = httpStatus === null || httpStatus >= 400;
  if (isJson && isClientError) return { state: 'ok' };
  return { state: 'not_the_service', message: `${url} does not look like the service: ${message}` };
}

/* The worker and the checks of the service use these timeouts. */

export const HTTP_TIMEOUTS = { readTimeoutMs: TIMING.read.probeMs, triggerTimeoutMs: TIMING.post.answerMs };

/* Lets a worker rest after its own access to the service failed. The first answered probe ends the rest. */

export interface WorkerRest extends Rest {
  /** Resolves when the worker does not rest. */
  whenOver(): Promise<void>;
}

interface CurrentRest {
  reason: string;
  firstProbe: Promise<boolean>;
  over: Promise<void>;
}

/** @param probe makes a read. @returns whether the service answered it and accepted the token */
export function createRest(probe: () => Promise<boolean>, log: Logger, ended: AbortSignal): WorkerRest {
  let current: CurrentRest | null = null;

  async function rest(firstProbe: Promise<boolean>, reason: string): Promise<void> {
    if (!(await firstProbe)) {
      log.warn(`this worker takes no activities until the service answers it: ${reason}`);
      do await sleep(TIMING.rest.probePauseMs, undefined, { signal: ended });
      while (!(await probe()));
      log.info('this worker takes activities again');
    }
    current = null;
  }

  return {
    get reason() {
      return current?.reason ?? null;
    },
    begin(reason) {
      if (current !== null || ended.aborted) return;
      const firstProbe = probe();
      const over = rest(firstProbe, reason);
      for (const promise of [firstProbe, over]) promise.catch(() => undefined);
      current = { reason, firstProbe, over };
    },
    async isOver() {
      return current === null || (await current.firstProbe.catch(() => false));
    },
    async whenOver() {
      await current?.over;
    },
  };
}
