/**
 * Where the time of a rollout goes beside its operations. Each of the servers at once is a lane of operations, one after
 * another; between two of them, an end is read, and the next one is requested. Pure.
 */
import { ascending, mean } from './spread.ts';

/** A request as the service saw it. */
export interface Requested {
  at: string;
  request: string;
  began: { kind: 'backup' | 'deployment'; id: string; target: string } | null;
}

export interface Lanes {
  /** Each with its sites, in their order. */
  servers: readonly { serverId: string; siteIds: readonly string[] }[];
  atOnce: number;
  durationMs: Record<'backup' | 'deployment', number>;
  fromMs: number;
  toMs: number;
}

/** Mean milliseconds for each time that this happens, and how often it happens in a lane. */
export interface Pause {
  eachMs: number;
  timesInLane: number;
}

export type PauseName = 'toBegin' | 'toRead' | 'toNextOperation' | 'toNextServer' | 'toEnd';

interface Operation {
  beganMs: number;
  endMs: number;
  /** When its end was read. */
  seenMs: number;
}

export function rolloutPauses(journal: readonly Requested[], lanes: Lanes): Record<PauseName, Pause> {
  const servers = lanes.servers.map((server) => operationsOf(journal, server, lanes.durationMs));
  const all = servers.flat();
  const next = servers.flatMap((operations) =>
    operations.slice(1).map((it, index) => it.beganMs - operations[index]!.seenMs),
  );
  const begins = ascending(servers.map((operations) => operations[0]!.beganMs));
  const ends = ascending(servers.map((operations) => operations.at(-1)!.seenMs));
  const { atOnce, fromMs, toMs } = lanes;
  const pause = (values: readonly number[]): Pause => ({ eachMs: mean(values), timesInLane: values.length / atOnce });
  return {
    toBegin: pause(begins.slice(0, atOnce).map((ms) => ms - fromMs)),
    toRead: pause(all.map(({ endMs, seenMs }) => seenMs - endMs)),
    toNextOperation: pause(next),
    // Whichever lane is free first takes the next server.
    toNextServer: pause(begins.slice(atOnce).map((ms, index) => ms - ends[index]!)),
    toEnd: pause(ends.slice(-atOnce).map((ms) => toMs - ms)),
  };
}

function operationsOf(
  journal: readonly Requested[],
  { serverId, siteIds }: Lanes['servers'][number],
  durationMs: Lanes['durationMs'],
): Operation[] {
  // A backup whose request may be lost repeats; what follows comes after the last one.
  return [serverId, ...siteIds].flatMap((target) => {
    const request = journal.findLast(({ began }) => began?.target === target);
    if (request?.began == null) return [];
    const { kind, id } = request.began;
    const beganMs = Date.parse(request.at);
    const endMs = beganMs + durationMs[kind];
    const read = kind === 'backup' ? `GET /v1/backups/${id}` : `GET /v1/sites/${target}/deployments/latest`;
    const seen = journal.find((it) => it.request === read && Date.parse(it.at) >= endMs);
    return seen === undefined ? [] : [{ beganMs, endMs, seenMs: Date.parse(seen.at) }];
  });
}
