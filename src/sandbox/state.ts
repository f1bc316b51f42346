/** The sandbox's memory: operations that move with time, the scripts of those to come, and the journal. */
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
}

export interface State {
  readonly journal: JournalEntry[];
  begin(kind: Kind, target: string, by: Actor): Operation;
  latestDeployment(siteId: string): Operation | null;
  backup(id: string): Operation | null;
  status(operation: Operation): string;
  /** The scripts of the next operations on a target, one each; the last one stays. */
  script(kind: Kind, target: string, scripts: ScriptPart[]): void;
  note(entry: Pick<JournalEntry, 'by' | 'request'> & Partial<JournalEntry>): void;
}

export function createState(defaults: Partial<Record<Kind, ScriptPart>> = {}): State {
  const operations: Operation[] = [];
  const scripts = new Map<string, ScriptPart[]>();
  const journal: JournalEntry[] = [];

  function nextScript(kind: Kind, target: string): Script {
    const own = scripts.get(`${kind}:${target}`) ?? [];
    const script = own.length > 1 ? own.shift() : own[0];
    return completeScript(kind, defaults[kind], script);
  }

  return {
    journal,
    begin(kind, target, by) {
      const id = `${kind === 'backup' ? 'b' : 'd'}-${operations.length + 1}`;
      const operation = { id, kind, target, by, startedMs: Date.now(), script: nextScript(kind, target) };
      operations.push(operation);
      return operation;
    },
    latestDeployment: (siteId) =>
      operations.findLast(({ kind, target }) => kind === 'deployment' && target === siteId) ?? null,
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
        ...entry,
      });
    },
  };
}
