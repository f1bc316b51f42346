/** A way to wait for many deployments, and what it takes to measure it. */
import type { Service } from '../service/start-service.ts';

export type ServicePlace = Pick<Service, 'url' | 'token'>;

export interface Pace {
  intervalMs: number;
  tries: number;
}

export interface Way {
  name: string;
  /** What it does not do, which Belay does. */
  lacks: string;
  /** Starts all that it needs. @returns null if something is missing here, which it reports */
  open(service: ServicePlace, pace: Pace): Promise<OpenWay | null>;
}

export interface OpenWay {
  /** Begins to deploy a site and to wait for it. */
  begin(siteId: string): Promise<unknown>;
  /** The processes that the work is done in. Those that they start are part of them. */
  pids(): number[];
}

/** An open way at its turn in a round. */
export interface Turn {
  way: string;
  round: number;
  open: OpenWay;
  service: Service;
}

export const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
