/** Reads the latest deployment of sites and apps from the service, for `belay top --site`. Without Temporal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfiguration, type Configuration } from '../config/load.ts';
import { ConfigError } from '../config/environment/variables.ts';
import { requireService, type ServiceConfig } from '../config/environment/environment.ts';
import { findServiceConfig } from '../config/find-temporal.ts';
import type { StatusState } from '../contract/activities.ts';
import { isApp, type Target } from '../contract/target.ts';
import { TIMING } from '../contract/timing.ts';
import { createHostingApiClient, createPacer, HostingApiError, type Pacer } from '../hosting-api/index.ts';
import { stateOfStatus } from '../rules/status-words.ts';

/**
 * The part of the ceiling that a program which reads for people may use, because workers need the rest. It is fixed: only
 * workers know how many programs share the ceiling.
 */
export const SHARE_OF_CEILING = 0.1;

export interface Reading {
  target: Target;
  /** As the service wrote it. Null before the first answer. */
  status: string | null;
  /** What that means, with the words in belay.yaml. */
  state: StatusState | null;
  /** ISO 8601, when this status was first read. */
  since: string | null;
  /** ISO 8601, of the last answer. */
  readAt: string | null;
  /** Why the last read brought no status. */
  problem: string | null;
  /** Whether the service answered 404, as it does for a target that was never deployed. */
  isMissing: boolean;
}

export interface TargetReader {
  readonly baseUrl: string;
  /** Reads a target once more. @returns the reading, and how long no target may be read after it */
  read(before: Reading): Promise<{ reading: Reading; pauseMs: number }>;
  readAll(targets: readonly Target[]): Promise<Reading[]>;
  /** Reads each at the interval, and later if the service asks for that. */
  follow(targets: readonly Target[], intervalMs: number): { readings(): Reading[]; stop(): void };
}

/** From the environment, or a running `belay dev`, and from belay.yaml. @throws ConfigError */
export async function configuredReader(targets: readonly Target[]): Promise<TargetReader> {
  const config = requireService(await findServiceConfig());
  const configuration = await readConfiguration();
  if (targets.some(isApp) && configuration.api?.app === undefined) {
    throw new ConfigError('no paths for apps, because the service documents none: add api.app to belay.yaml');
  }
  return createTargetReader(config, configuration);
}

export function createTargetReader(
  config: ServiceConfig,
  { api, statuses }: Pick<Configuration, 'api' | 'statuses'> = {},
): TargetReader {
  const { baseUrl, maxRequestsPerSecond: ceiling } = config;
  const pacer = createPacer(TIMING.pace);
  pacer.setShare(ceiling === undefined ? null : ceiling * SHARE_OF_CEILING);
  const timeouts = { readTimeoutMs: TIMING.read.answerMs, triggerTimeoutMs: TIMING.post.answerMs };
  const client = createHostingApiClient({ ...config, ...timeouts, pacer, appPaths: api?.app });
  const read: Read = (target, signal) =>
    client.readLatestDeployment(target, { signal }).then(
      ({ status }) => ({ ...ANSWERED, status, state: stateOfStatus(statuses?.deployment ?? {}, status) }),
      (error: Error) => failedAnswer(error, pacer),
    );
  return {
    baseUrl,
    async read(before) {
      const answer = await read(before.target);
      return { reading: readingAfter(before, answer), pauseMs: answer.pauseMs };
    },
    readAll: (all) =>
      Promise.all(
        all.map(async (target, index) => {
          await sleep(index * SPREAD_MS);
          return readingAfter(notYetRead(target), await readInTurn(() => read(target)));
        }),
      ),
    follow: (all, intervalMs) => followAll(read, all, intervalMs),
  };
}

interface Answer extends Pick<Reading, 'status' | 'state' | 'problem' | 'isMissing'> {
  /** Before it may be read again. */
  pauseMs: number;
  isCeiling: boolean;
}

type Read = (target: Target, signal?: AbortSignal) => Promise<Answer>;

function failedAnswer(error: Error, pacer: Pacer): Answer {
  if (!(error instanceof HostingApiError)) return { ...FAILED, problem: error.message };
  const { kind, reason, retryAfterMs, httpStatus } = error;
  // Like the pacer: a service that names a longer time is asked once in between.
  const pauseMs = Math.min(retryAfterMs ?? 0, TIMING.pace.maxPauseMs);
  if (kind !== 'held_back') return { ...FAILED, problem: reason, pauseMs, isMissing: httpStatus === 404 };
  const isCeiling = !pacer.isPaused;
  const cause = isCeiling ? 'BELAY_MAX_RPS' : 'the service asked to wait';
  return { ...FAILED, problem: `held back for ${Math.ceil(pauseMs / 1_000)} s: ${cause}`, pauseMs, isCeiling };
}

const ANSWERED = { problem: null, pauseMs: 0, isCeiling: false, isMissing: false } as const;
const FAILED = { status: null, state: null, pauseMs: 0, isCeiling: false, isMissing: false } as const;

/** A snapshot waits for its turn below the ceiling, but not for a service that asks for a pause. */
async function readInTurn(read: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await read();
    if (!answer.isCeiling) return answer;
    await sleep(Math.max(answer.pauseMs, SPREAD_MS));
  }
}

const UNREAD = { status: null, state: null, since: null, readAt: null, problem: null, isMissing: false } as const;
export const notYetRead = (target: Target): Reading => ({ target, ...UNREAD });

function readingAfter(before: Reading, { status, state, problem, isMissing }: Answer): Reading {
  if (status === null) return { ...before, problem, isMissing };
  const readAt = new Date().toISOString();
  const since = status === before.status ? before.since : readAt;
  return { ...before, status, state, since, readAt, problem, isMissing };
}

/** The pause between the first reads, so that they do not all go out at once. */
const SPREAD_MS = 100;

function followAll(read: Read, targets: readonly Target[], intervalMs: number): ReturnType<TargetReader['follow']> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const readings = targets.map(notYetRead);
  const pause = (ms: number) => sleep(ms, undefined, { signal });

  async function keepReading(index: number, before: Reading): Promise<void> {
    await pause(index * Math.min(SPREAD_MS, intervalMs / targets.length));
    for (let reading = before; ;) {
      const answer = await read(before.target, signal);
      readings[index] = reading = readingAfter(reading, answer);
      await pause(Math.max(intervalMs, answer.pauseMs));
    }
  }

  // Only a pause rejects, when it is aborted.
  for (const [index, reading] of readings.entries()) void keepReading(index, reading).catch(() => undefined);
  return { readings: () => [...readings], stop: () => stopped.abort() };
}
