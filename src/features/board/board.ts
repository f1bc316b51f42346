/** The board: what it reads, how often, and what it knows. */
import { adHocEntry, fileEntry, type FreezeEntry } from '../freezes/actions.ts';
import { unreadableTexts, type PartlyRead } from '../../cli/run-text.ts';
import {
  createTargetReader,
  notYetRead,
  SHARE_OF_CEILING,
  type Reading,
  type TargetReader,
} from '../../cli/target-reader.ts';
import type { Session } from '../../client/session.ts';
import { takeNewRuns } from '../../client/workers.ts';
import { within } from '../../client/within.ts';
import { createFreezes } from '../freezes/client.ts';
import { createOverview } from '../overview/client.ts';
import { createSchedules } from '../schedules/client.ts';
import type { ServiceConfig } from '../../config/environment/environment.ts';
import { readConfiguration, type Configuration } from '../../config/load.ts';
import { buildInventory } from '../../config/inventory.ts';
import { TIMING } from '../../contract/timing.ts';
import type { RunningFreeze } from '../freezes/shapes.ts';
import { parseIdentity, versionText } from '../../contract/worker-identity.ts';
import { policyOf, type Policy } from '../../config/policy.ts';
import { createPast, subjectKey, type Past, type BoardSubject, type PastVerdict } from './past.ts';
import { createBoardPoller, type BoardSource } from './poller.ts';
import { boardStatusOf, type BoardSeen, type BoardStatus, type BoardTarget, type BoardWorker } from './status.ts';

export interface BoardOptions {
  session: Session;
  /** Default: belay.yaml, read again and again. */
  configuration?: () => Promise<Configuration>;
  /** Null if the board does not read the service. */
  service: ServiceConfig | null;
  receipts?: string | undefined;
}

export interface Board {
  /** Tells the board that someone is watching. */
  look(): Promise<void>;
  /** @param since ISO 8601: leaves out targets that have not run since then */
  status(since?: string | null): BoardStatus;
  /** The row of a target, and its past runs, the newest first. Null if the board does not know it. */
  target(subject: BoardSubject): { row: BoardTarget; past: PastVerdict[] } | null;
  stop(): void;
}

const MOST_IN_FLIGHT = 1_000;
/** The rate of reads if the service has no ceiling. */
const READS_PER_SECOND = 2;

interface Known extends Pick<BoardSeen, 'inFlight' | 'schedules' | 'workers' | 'readAt'> {
  configuration: Configuration;
  policy: Policy;
  running: RunningFreeze[];
}

export function createBoard(options: BoardOptions): Board {
  const { session, service, receipts, configuration = () => readConfiguration() } = options;
  const known: Known = {
    configuration: {},
    policy: policyOf({}),
    inFlight: [],
    running: [],
    schedules: [],
    workers: null,
    readAt: null,
  };
  const past = createPast(session);
  const readings = new Map<string, Reading>();
  const sources: BoardSource[] = [
    {
      name: 'belay.yaml',
      everyMs: TIMING.board.freezesMs,
      async read() {
        known.configuration = await configuration();
        known.policy = policyOf(known.configuration);
      },
    },
    ...temporalSources(session, known, past),
    ...(receipts === undefined
      ? []
      : [{ name: 'receipts', everyMs: TIMING.board.receiptsMs, read: () => past.readReceipts(receipts) }]),
    ...(service === null
      ? []
      : [
          serviceSource(
            service,
            () => known.configuration,
            () => past.subjects(),
            readings,
          ),
        ]),
  ];
  const poller = createBoardPoller(sources);

  function status(since: string | null = null): BoardStatus {
    const nowMs = Date.now();
    const seen = {
      ...known,
      targets: targetsIn(known.configuration),
      past,
      readings: service === null ? null : readings,
      freezes: freezesIn(known, nowMs),
      problems: poller.problems(),
    };
    return boardStatusOf(seen, nowMs, since);
  }

  return {
    look: () => poller.look(),
    status,
    target(subject) {
      const row = status().targets.find((it) => subjectKey(it) === subjectKey(subject));
      return row === undefined ? null : { row, past: past.of(subject) };
    },
    stop: () => poller.stop(),
  };
}

function temporalSources(session: Session, known: Known, past: Past): BoardSource[] {
  const overview = createOverview(session, { limit: MOST_IN_FLIGHT });
  const [freezes, schedules] = [createFreezes(session), createSchedules(session)];
  const { inFlightMs, pastMs, resultsMs, workersMs, freezesMs, schedulesMs } = TIMING.board;
  return [
    {
      name: 'what is in flight',
      everyMs: inFlightMs,
      async read() {
        known.inFlight = (await overview.refresh()).inFlight;
        known.readAt = new Date().toISOString();
        refuseUnreadable(known.inFlight.map(({ status }) => status.result));
      },
    },
    {
      name: 'past runs',
      everyMs: pastMs,
      async read() {
        await past.list();
        refuseUnreadable(past.unreadable());
      },
    },
    { name: 'results of past runs', everyMs: resultsMs, read: () => past.readResults() },
    {
      name: 'workers',
      everyMs: workersMs,
      read: async () => void (known.workers = await workersOf(session)),
    },
    { name: 'freezes', everyMs: freezesMs, read: async () => void (known.running = await freezes.list()) },
    { name: 'schedules', everyMs: schedulesMs, read: async () => void (known.schedules = await schedules.list()) },
  ];
}

/** Call it after everything else was read. @throws Error, which is then a problem of the board */
function refuseUnreadable(results: readonly PartlyRead[]): void {
  const texts = unreadableTexts(results);
  if (texts.length > 0) throw new Error(texts.join('; '));
}

async function workersOf(session: Session): Promise<BoardWorker[]> {
  const state = await within(session, TIMING.client.startMs, 'find the workers', () => session.workers());
  const current = new Set(takeNewRuns(state));
  return state.pollers.map((poller) => {
    const { version = null, where = poller.identity, since = null } = parseIdentity(poller.identity) ?? {};
    const build = poller.version === null ? null : versionText(poller.version);
    return { version, where, since, build, takesNewRuns: current.has(poller) };
  });
}

const freezesIn = ({ policy, running }: Known, nowMs: number): FreezeEntry[] => [
  ...running.map((it) => adHocEntry(it, nowMs)),
  ...policy.list([], nowMs).map(fileEntry),
];

function targetsIn({ fleets }: Configuration) {
  return [...buildInventory(fleets).servers.values()].flatMap(({ fleet, serverId, targets }) =>
    targets.map((target) => ({ ...target, server: serverId, fleet })),
  );
}

/** Reads one target at a time, from the fleets and from the past runs: always the one whose last read is oldest. */
export function serviceSource(
  service: ServiceConfig,
  configurationNow: () => Configuration,
  subjectsOfPast: () => BoardSubject[],
  readings: Map<string, Reading>,
  nowMs = () => Date.now(),
): BoardSource {
  const { maxRequestsPerSecond: ceiling, ...unlimited } = service;
  const everyMs = 1_000 / (ceiling === undefined ? READS_PER_SECOND : ceiling * SHARE_OF_CEILING);
  const triedMs = new Map<string, number>();
  let reader: { configuration: Configuration; reader: TargetReader } | null = null;

  return {
    name: 'the service',
    everyMs,
    async read() {
      const configuration = configurationNow();
      if (reader?.configuration !== configuration)
        reader = { configuration, reader: createTargetReader(unlimited, configuration) };
      const subjects = [...targetsIn(configuration), ...subjectsOfPast()].flatMap(({ kind, id }) =>
        kind === 'site' || (kind === 'app' && configuration.api?.app !== undefined) ? [{ kind, id }] : [],
      );
      const readable = [...new Map(subjects.map((it) => [subjectKey(it), it])).values()];
      const tried = (subject: BoardSubject) => triedMs.get(subjectKey(subject)) ?? -Infinity;
      const [oldest] = readable.sort((a, b) => tried(a) - tried(b));
      if (oldest === undefined) return TIMING.board.serviceMs;
      const untilDueMs = tried(oldest) + TIMING.board.serviceMs - nowMs();
      if (untilDueMs > 0) return Math.max(everyMs, untilDueMs);
      const key = subjectKey(oldest);
      triedMs.set(key, nowMs());
      const { reading, pauseMs } = await reader.reader.read(readings.get(key) ?? notYetRead(oldest));
      readings.set(key, reading);
      return Math.max(everyMs, pauseMs);
    },
  };
}
