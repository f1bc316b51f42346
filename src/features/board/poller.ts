/**
 * Asks Temporal and the service once for everyone who watches. The number of viewers changes nothing, and without any
 * viewer it asks nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMING } from '../../contract/timing.ts';
import { messageOf } from '../../contract/safe-text.ts';

/** Something that is read again and again, as long as someone looks. */
export interface BoardSource {
  /** For people, such as `what is in flight`. */
  name: string;
  everyMs: number;
  /** @returns the pause before the next read, if it is not `everyMs` */
  read: () => Promise<number | void>;
}

export interface Problem {
  source: string;
  message: string;
  /** ISO 8601, of the first failed read since the last successful one. */
  since: string;
}

export interface BoardPoller {
  /** Someone looks. Resolves once there is something to show, after a few seconds at the latest. */
  look(): Promise<void>;
  problems(): Problem[];
  stop(): void;
}

/** The clock and the pauses of the board, as tests replace them. */
export interface BoardTime {
  nowMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const REAL: BoardTime = { nowMs: () => Date.now(), sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

interface Followed {
  source: BoardSource;
  /** Resolves with its first read since someone began to look. Null while nobody looks. */
  reading: Promise<void> | null;
  problem: Problem | null;
}

export function createBoardPoller(sources: readonly BoardSource[], time: BoardTime = REAL): BoardPoller {
  const followed = sources.map((source): Followed => ({ source, reading: null, problem: null }));
  const stopped = new AbortController();
  const { signal } = stopped;
  let lookedMs = -Infinity;

  const isWatched = () => !signal.aborted && time.nowMs() - lookedMs < TIMING.board.lingerMs;

  async function readOnce(it: Followed): Promise<number> {
    const { name, everyMs, read } = it.source;
    try {
      const pauseMs = await read();
      it.problem = null;
      return pauseMs ?? everyMs;
    } catch (error) {
      const since = it.problem?.since ?? new Date(time.nowMs()).toISOString();
      it.problem = { source: name, message: messageOf(error), since };
      return everyMs;
    }
  }

  /** Ends once nobody is watching. */
  async function keepReading(it: Followed, firstRead: () => void): Promise<void> {
    try {
      while (isWatched()) {
        const pauseMs = await readOnce(it);
        firstRead();
        await time.sleep(pauseMs, signal);
      }
    } finally {
      it.reading = null;
    }
  }

  function begin(it: Followed): Promise<void> {
    const reading = new Promise<void>((firstRead) => {
      // Only a pause rejects, when the board stops.
      void keepReading(it, firstRead).catch(() => firstRead());
    });
    it.reading = reading;
    return reading;
  }

  return {
    async look() {
      lookedMs = time.nowMs();
      const begun = followed.filter(({ reading }) => reading === null).map(begin);
      const first = begun.length === 0 ? followed.flatMap(({ reading }) => reading ?? []) : begun;
      const answered = new AbortController();
      const tooLong = time.sleep(TIMING.board.firstReadMs, answered.signal).catch(() => undefined);
      await Promise.race([Promise.all(first), tooLong]);
      answered.abort();
    },
    problems: () => followed.flatMap(({ problem }) => problem ?? []),
    stop: () => stopped.abort(),
  };
}
