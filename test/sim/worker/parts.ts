import type { Configuration } from '../../../src/config/load.ts';
import type { WorkerInfo } from '../../../src/contract/activities.ts';
import type { Clock } from '../clock.ts';
import type { Sandboxes } from '../core/sdk.ts';
import type { Tape } from '../tape.ts';
import type { Meter } from './meter.ts';
import type { Notices } from './notices.ts';
import type { Server } from '../temporal/types.ts';
import type { Pace } from './pace.ts';
import type { Process } from './process.ts';
import type { Service } from './wire.ts';

/** What a worker is made of, and what it talks to. */
export interface WorkerParts {
  clock: Clock;
  tape: Tape;
  process: Process;
  server: Server;
  service: Service;
  notices: Notices;
  meter: Meter;
  sandboxes: Sandboxes;
  info: WorkerInfo;
  pace: Pace;
  /** How many executions its cache holds. */
  cacheSize: number;
  searchLagMs: number;
  configuration: Configuration;
  /** Reads a file that the configuration names. */
  readText: (path: string) => Promise<string>;
  token: () => string;
  /** Called where the worker may crash or stall. */
  hazard: (at: string) => void;
  onFinding: (finding: string) => void;
  hasColleagues: () => boolean;
}

/** Asks the server something. Resolves once the server is up and has answered. */
export type Ask = <T>(question: () => T) => Promise<T>;

export const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
