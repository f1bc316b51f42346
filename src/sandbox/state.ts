/** The sandbox's memory: operations that progress with time, scripts of later operations, and the journal. */
import { createHash } from 'node:crypto';
import { createFaultQueue, type Fault } from './faults.ts';
import { completeScript, kindOn, statusAt, type Kind, type Resource, type Script, type ScriptPart } from './script.ts';

/** Who acted: a caller of the API, a party unknown to it (a push, another user), or a visitor of a site. */
export type Actor = 'api' | 'outside' | 'visitor';

export interface SandboxOperation {
  id: string;
  kind: Kind;
  /** The site or app that is deployed, or the server that is backed up. */
  on: Resource;
  startedMs: number;
  script: Script;
}

export interface JournalEntry {
  at: string;
  by: Actor;
  /** `POST /v1/sites/a1/deploy`, or what an outside actor did. */
  request: string;
  /** The HTTP status of the answer. Null for a fault or an outside actor. */
  answered: number | null;
  authorized: boolean;
  idempotencyKey: string | null;
  began: { kind: Kind; id: string; target: string } | null;
  said: string | null;
  /** The id of the deployment that the answer was about. */
  shows: string | null;
  fault: string | null;
  /** How long the answer asks the caller to wait: 0 if it names no time, null if it does not ask the caller to wait. */
  asksToWaitMs: number | null;
}

/** The other fields of an entry that says only who did what, and when. */
export const NOTHING_ELSE: Omit<JournalEntry, 'at' | 'by' | 'request'> = {
  answered: null,
  authorized: true,
  idempotencyKey: null,
  began: null,
  said: null,
  shows: null,
  fault: null,
  asksToWaitMs: null,
};

/** What the journal notes; it adds the time. */
export type Note = Pick<JournalEntry, 'by' | 'request'> &
  Partial<Omit<JournalEntry, 'at' | 'began'>> & { began?: SandboxOperation };

export interface Shown {
  id: string;
  status: string;
  ids: Record<string, string>;
}

export type State = ReturnType<typeof createState>;

export interface StateOptions {
  token: string;
  defaults: Partial<Record<Kind, ScriptPart>> | undefined;
  onBegin: (operation: SandboxOperation) => void;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  clock?: () => number;
}

function commitShown(deployments: readonly SandboxOperation[], nowMs: number): string | null {
  const shown = deployments.findLast(({ startedMs, script: { durationMs, ends, pageLagMs, pageLeadMs } }) => {
    if (pageLeadMs > 0) return nowMs - startedMs >= durationMs - pageLeadMs;
    return ends === 'completed' && nowMs - startedMs - durationMs >= pageLagMs;
  });
  if (shown === undefined) return null;
  return shown.script.commit ?? createHash('sha1').update(shown.id).digest('hex');
}

const keyOf = ({ type, id }: Resource): string => `${type}:${id}`;

export function createState({ token, defaults = {}, onBegin, clock = Date.now }: StateOptions) {
  const operations: SandboxOperation[] = [];
  const scripts = new Map<string, ScriptPart[]>();
  const journal: JournalEntry[] = [];
  const removed = new Set<string>();
  const answers = new Map<string, Answers & { reads: number }>();
  let recent: number[] = [];

  function nextScript(on: Resource): Script {
    const own = scripts.get(keyOf(on)) ?? [];
    const script = own.length > 1 ? own.shift() : own[0];
    const kind = kindOn(on);
    return completeScript(kind, defaults[kind], script);
  }

  const isRemoved = (on: Resource) => removed.has(keyOf(on));
  const isOn = (on: Resource) => (operation: SandboxOperation) => keyOf(operation.on) === keyOf(on);

  return {
    journal,
    faults: createFaultQueue<Fault>(),
    /** The only token accepted now. */
    token,
    /** Requests per second above which the answer is 429. Null for no limit. */
    maxPerSecond: null as number | null,
    /** Counts a request. @returns false if it is above `maxPerSecond` */
    countRequest() {
      if (this.maxPerSecond === null) return true;
      const nowMs = clock();
      recent = recent.filter((ms) => nowMs - ms < 1_000);
      if (recent.length >= this.maxPerSecond) return false;
      recent.push(nowMs);
      return true;
    },
    /** From now on, the API does not find the resource. */
    remove: (on: Resource) => void removed.add(keyOf(on)),
    isRemoved,
    begin(on: Resource): SandboxOperation {
      // Digits only, as most services use, so that faults can also return the id as a number.
      const id = String(1_000 + operations.length);
      const operation = { id, kind: kindOn(on), on, startedMs: clock(), script: nextScript(on) };
      operations.push(operation);
      onBegin(operation);
      return operation;
    },
    /** Reads what the endpoint shows: a new deployment may appear late, and a replica may lag. */
    readLatest(on: Resource): Shown | null {
      const how: Answers & { reads: number } = answers.get(keyOf(on)) ?? { reads: 0 };
      how.reads += 1;
      const { replica } = how;
      const isBehind = replica !== undefined && how.reads % replica.every === 0;
      const nowMs = clock() - (isBehind ? replica.lagMs : 0);
      const shown = operations.filter(({ startedMs, script }) => nowMs - startedMs >= script.lagMs).findLast(isOn(on));
      if (isRemoved(on) || shown === undefined) return null;
      const { id, script, startedMs } = shown;
      return { id, status: statusAt(script, nowMs - startedMs), ids: latestIds(how, id) };
    },
    /** Returns the ids in the answer to the request that began the operation. */
    triggerIds({ id, on }: SandboxOperation): Record<string, string> {
      const before = operations.filter((it) => Number(it.id) < Number(id)).findLast(isOn(on));
      return triggerIds(answers.get(keyOf(on)) ?? {}, id, before?.id ?? null);
    },
    answer: (on: Resource, how: Answers) => void answers.set(keyOf(on), { ...how, reads: 0 }),
    latest: (on: Resource) => operations.findLast(isOn(on)) ?? null,
    backup: (id: string) => operations.find((operation) => operation.kind === 'backup' && operation.id === id) ?? null,
    status: ({ script, startedMs }: SandboxOperation) => statusAt(script, clock() - startedMs),
    /** Returns the commit of the last completed deployment, as the site shows it. Null if there is none. */
    deployedCommit: (on: Resource) => commitShown(operations.filter(isOn(on)), clock()),
    script: (on: Resource, list: ScriptPart[]) => void scripts.set(keyOf(on), [...list]),
    note({ began, ...entry }: Note) {
      // On a busy machine, an operation begins some time before this note of it.
      const at = new Date(began?.startedMs ?? clock()).toISOString();
      const begun = began === undefined ? null : { kind: began.kind, id: began.id, target: began.on.id };
      journal.push({ at, ...NOTHING_ELSE, ...entry, began: begun });
    },
  };
}

/* Decides what the answers about deployments show beyond the documented fields, and which replica gives them. Pure. */

export interface Answers {
  /** The fields of the latest answer, each with the id of its deployment or with an id that never changes. */
  latest?: Partial<Record<'id' | 'uuid', 'own' | 'constant'>>;
  /**
   * The id in the answer to a request: that of its deployment, of the previous one, or of a job that `latest` never
   * shows.
   */
  trigger?: 'own' | 'previous' | 'job';
  /** Every n-th read is answered by a replica that is this far behind. */
  replica?: { every: number; lagMs: number };
}

const latestIds = ({ latest = {} }: Answers, id: string): Record<string, string> =>
  Object.fromEntries(Object.entries(latest).map(([field, kind]) => [field, kind === 'own' ? id : 'constant']));

/** @param previous the id of the previous deployment; null if there is none */
function triggerIds({ trigger }: Answers, id: string, previous: string | null): Record<string, string> {
  if (trigger === 'own') return { id };
  if (trigger === 'job') return { id: `job-${id}` };
  return trigger === undefined || previous === null ? {} : { id: previous };
}
