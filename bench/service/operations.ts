/**
 * The API's four endpoints with as little work as possible, so that the service is not what limits a measurement. Every
 * operation is in progress until it is ended. No I/O.
 */

export interface Answer {
  code: number;
  body: object;
}

/** Requests in the order of their arrival, in columns: they are many. */
export interface Arrivals {
  /** The name of each target. */
  targets: string[];
  posts: { target: number[]; atMs: number[] };
  /** Reads that were answered with a status, and whether that was final. */
  reads: { target: number[]; atMs: number[]; isFinal: boolean[] };
}

/** Since the service was started. */
export interface Counts {
  /** Targets with a POST. */
  begun: number;
  /** POSTs to targets that had one already. */
  again: number;
  reads: number;
}

interface Operation {
  target: number;
  beganMs: number;
  durationMs: number;
  /** Its last status, if it was ended. */
  ended: string | null;
}

const IN_PROGRESS = 'building';
const COMPLETED = 'completed';
const NOT_FOUND: Answer = { code: 404, body: { message: 'Not found.' } };
const UNAUTHENTICATED: Answer = { code: 401, body: { message: 'Unauthenticated.' } };
const ROUTE = /^\/v1\/(?:(sites|servers)\/([^/]+)\/(deploy|deployments\/latest|backups)|backups\/([^/]+))$/;

export function createOperations(token: string) {
  const byPath = new Map<string, Operation>();
  const indexes = new Map<string, number>();
  const counts: Counts = { begun: 0, again: 0, reads: 0 };
  let arrivals = nothing();
  let durationMs = Infinity;
  let backups = 0;

  function nothing(): Arrivals {
    return {
      targets: [...indexes.keys()],
      posts: { target: [], atMs: [] },
      reads: { target: [], atMs: [], isFinal: [] },
    };
  }

  function begin(path: string, name: string, nowMs: number): void {
    const index = indexes.get(name) ?? indexes.size;
    if (indexes.has(name)) counts.again += 1;
    else {
      indexes.set(name, index);
      arrivals.targets.push(name);
      counts.begun += 1;
    }
    arrivals.posts.target.push(index);
    arrivals.posts.atMs.push(nowMs);
    byPath.set(path, { target: index, beganMs: nowMs, durationMs, ended: null });
  }

  function status(path: string, nowMs: number): Answer {
    const operation = byPath.get(path);
    if (operation === undefined) return NOT_FOUND;
    const { target, beganMs, ended } = operation;
    const isFinal = ended !== null || nowMs >= beganMs + operation.durationMs;
    counts.reads += 1;
    arrivals.reads.target.push(target);
    arrivals.reads.atMs.push(nowMs);
    arrivals.reads.isFinal.push(isFinal);
    return { code: 200, body: { status: ended ?? (isFinal ? COMPLETED : IN_PROGRESS) } };
  }

  return {
    answer(method: string, path: string, authorization: string | undefined, nowMs: number): Answer {
      if (authorization !== `Bearer ${token}`) return UNAUTHENTICATED;
      const [, kind, name = '', what, backupId] = ROUTE.exec(path) ?? [];
      const endpoint = `${method} ${kind} ${what}`;
      if (endpoint === 'POST sites deploy') {
        begin(`site ${name}`, name, nowMs);
        return { code: 200, body: { message: 'Deployment started.' } };
      }
      if (endpoint === 'GET sites deployments/latest') return status(`site ${name}`, nowMs);
      if (endpoint === 'POST servers backups') {
        const id = String((backups += 1));
        begin(`backup ${id}`, name, nowMs);
        return { code: 201, body: { id } };
      }
      return method === 'GET' && backupId !== undefined ? status(`backup ${backupId}`, nowMs) : NOT_FOUND;
    },
    counts: (): Counts => counts,
    /** What arrived since the last call. */
    take(): Arrivals {
      const taken = arrivals;
      arrivals = nothing();
      return taken;
    },
    /** How long operations take that begin from now on. */
    setDuration: (ms: number) => void (durationMs = ms),
    /** Ends every operation that has begun. */
    endAll(word: string): void {
      for (const operation of byPath.values()) operation.ended ??= word;
    },
  };
}
