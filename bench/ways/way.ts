/** A way to wait for many deployments, and what it takes to measure it. */
import type { Controls } from '../../src/sandbox/controls.ts';

export interface Service extends Pick<Controls, 'journal' | 'script' | 'finish'> {
  url: string;
  token: string;
}

export interface Pace {
  intervalMs: number;
  tries: number;
}

export interface Way {
  name: string;
  /** What it does not do, which Belay does. */
  lacks: string;
  /** Starts all that it needs. @returns null if something is missing here, which it says */
  open(service: Service, pace: Pace): Promise<OpenWay | null>;
}

export interface OpenWay {
  /** Begins to deploy a site and to wait for it. */
  begin(siteId: string): Promise<unknown>;
  /** The processes that the work is done in. Those that they start are part of them. */
  pids(): number[];
}
