/** The process of a worker as its operating system sees it: it runs, is stopped for a while, and ends. */
import type { Clock } from '../clock.ts';

export interface Process {
  readonly hasEnded: boolean;
  /** By its own clock, which may be wrong. */
  wallMs(): number;
  /** Acts later; when it is continued if it is stopped then; never once it has ended. */
  later(ms: number, act: () => unknown): void;
  /** Never resolves once the process has ended. */
  sleep(ms: number): Promise<void>;
  readonly whenEnded: Promise<void>;
  /** How often it was stopped. */
  readonly stops: number;
  /** Like SIGSTOP, and SIGCONT after this time. */
  stop(forMs: number): void;
  /** Like SIGKILL. */
  kill(): void;
}

export function createProcess(clock: Clock, aheadMs: number): Process {
  let end: () => void = () => {};
  const whenEnded = new Promise<void>((resolve) => (end = resolve));
  let hasEnded = false;
  let stoppedUntilMs = 0;
  let stops = 0;
  const process: Process = {
    get hasEnded() {
      return hasEnded;
    },
    wallMs: () => clock.nowMs + aheadMs,
    later(ms, act) {
      clock.after(ms, function due(): unknown {
        if (hasEnded) return undefined;
        return clock.nowMs < stoppedUntilMs ? clock.at(stoppedUntilMs, due) : act();
      });
    },
    sleep: (ms) => new Promise((resolve) => process.later(ms, () => resolve())),
    whenEnded,
    get stops() {
      return stops;
    },
    stop(forMs) {
      stops += 1;
      stoppedUntilMs = Math.max(stoppedUntilMs, clock.nowMs + forMs);
    },
    kill() {
      hasEnded = true;
      end();
    },
  };
  return process;
}
