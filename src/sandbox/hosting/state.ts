/** The sandbox's memory: operations that move with time, the scripts of those to come, and the journal. */
import { createFaults, type Faults } from './faults.ts';
import { completeScript, statusAt, type Kind, type Script, type ScriptPart } from './script.ts';

/** Who did it: a caller of the interface, or somebody the caller knows nothing of (a push, another user). */
export type Actor = 'api' | 'outside';

export interface Operation {
  id: string;
  kind: Kind;
  /** The site that is deployed, or the server that is backed up. */
  target: string;
  by: Actor;
  startedMs: number;
  script: Script;
}

export interface JournalEntry {
  at: string;
  by: Actor;
  /** `POST /v1/sites/a1/deploy`, or what an outside actor did. */
  request: string;
  /** The HTTP status of the answer; null for outside actors. */
  answered: number | null;
  authorized: boolean;
  idempotencyKey: string | null;
  /** The operation that this began. */
  began: { kind: Kind; id: string; target: string } | null;
  /** The status word that was read. */
  said: string | null;
  /** What went wrong with it. */
  fault: string | null;
}

export interface State {
  readonly journal: JournalEntry[];
  readonly faults: Faults;
  /** The one that is accepted now. */
  token: string;
  /** Requests a second beyond which 429 is answered; null for no limit. */
  maxPerSecond: number | null;
  /** Counts a request against the limit. */
  isTooMuch(): boolean;
  begin(kind: Kind, target: string, by: Actor): Operation;
  /** As the endpoint sees it: a new one may come late. */
  latestDeployment(siteId: string): Operation | null;
  /** Nobody finds it from now on. */
  remove(kind: Kind, target: string): void;
  isRemoved(kind: Kind, target: string): boolean;
  backup(id: string): Operation | null;
  latest(kind: Kind, target: string): Operation | null;
  status(operation: Operation): string;
  /** The scripts of the next operations on a target, one each; the last one stays. */
  script(kind: Kind, target: string, scripts: ScriptPart[]): void;
  note(entry: Pick<JournalEntry, 'by' | 'request'> & Partial<JournalEntry>): void;
}

export interface StateOptions {
  token: string;
  defaults: Partial<Record<Kind, ScriptPart>> | undefined;
  onBegin: (operation: Operation) => void;
}

export function createState({ token, defaults = {}, onBegin }: StateOptions): State {
  const operations: Operation[] = [];
  const scripts = new Map<string, ScriptPart[]>();
  const journal: JournalEntry[] = [];
  const removed = new Set<string>();
  let recent: number[] = [];

  function nextScript(kind: Kind, target: string): Script {
    const own = scripts.get(`${kind}:${target}`) ?? [];
    const script = own.length > 1 ? own.shift() : own[0];
    return completeScript(kind, defaults[kind], script);
  }

  const isRemoved = (kind: Kind, target: string) => removed.has(`${kind}:${target}`);

  return {
    journal,
    faults: createFaults(),
    token,
    maxPerSecond: null,
    isTooMuch() {
      if (this.maxPerSecond === null) return false;
      const nowMs = Date.now();
      recent = recent.filter((ms) => nowMs - ms < 1_000);
      if (recent.length >= this.maxPerSecond) return true;
      recent.push(nowMs);
      return false;
    },
    remove: (kind, target) => void removed.add(`${kind}:${target}`),
    isRemoved,
    begin(kind, target, by) {
      // In digits, as most services have them: such an id may also come as a number.
      const id = String(1_000 + operations.length);
      const operation = { id, kind, target, by, startedMs: Date.now(), script: nextScript(kind, target) };
      operations.push(operation);
      onBegin(operation);
      return operation;
    },
    latestDeployment: (siteId) =>
      operations.findLast(
        ({ kind, target, startedMs, script }) =>
          kind === 'deployment' &&
          target === siteId &&
          !isRemoved(kind, target) &&
          Date.now() - startedMs >= script.lagMs,
      ) ?? null,
    latest: (kind, target) => operations.findLast((it) => it.kind === kind && it.target === target) ?? null,
    backup: (id) => operations.find((operation) => operation.kind === 'backup' && operation.id === id) ?? null,
    status: ({ script, startedMs }) => statusAt(script, Date.now() - startedMs),
    script: (kind, target, list) => void scripts.set(`${kind}:${target}`, [...list]),
    note(entry) {
      journal.push({
        at: new Date().toISOString(),
        answered: null,
        authorized: true,
        idempotencyKey: null,
        began: null,
        said: null,
        fault: null,
        ...entry,
      });
    },
  };
}
