/** The parts of the benchmark, in the order in which they run. Each is a program of this folder. */

export interface Part {
  /** How long it takes at most. A part with rounds makes fewer of them on a slow machine. */
  minutes: number;
  /** With `--quick`; null if it is left out. */
  quickMinutes: number | null;
  /** Names of its own options. Each takes a value. */
  options: readonly string[];
}

export const PARTS = {
  cost: { minutes: 0.5, quickMinutes: 0.3, options: [] },
  ways: { minutes: 25, quickMinutes: 3.8, options: ['rounds'] },
  'in-flight': { minutes: 32, quickMinutes: 2.6, options: ['rounds', 'counts', 'ways'] },
  sigkill: { minutes: 9.5, quickMinutes: null, options: ['count'] },
  fleet: { minutes: 27, quickMinutes: null, options: ['counts'] },
  'event-delay': { minutes: 7, quickMinutes: 1.5, options: [] },
  rollout: { minutes: 9, quickMinutes: 1.2, options: ['servers', 'sites', 'limit'] },
  receiver: { minutes: 1, quickMinutes: 0.4, options: ['deliveries'] },
  'event-flood': { minutes: 2.5, quickMinutes: null, options: ['seconds'] },
  'cold-restart': { minutes: 4, quickMinutes: null, options: ['count', 'events', 'interval'] },
} as const satisfies Record<string, Part>;

export type PartName = keyof typeof PARTS;

export const isPart = (name: string): name is PartName => name in PARTS;

/** The minutes that a part may take; null if it is left out. */
export const minutesOf = (name: PartName, isQuick: boolean): number | null =>
  isQuick ? PARTS[name].quickMinutes : PARTS[name].minutes;
