/** The parts of the benchmark, in the order in which they run. Each is a program of this folder. */

export interface Part {
  /** How long it takes. Together with others it gets a share of their time, and ends early where that is too little. */
  minutes: number;
  /** With `--quick`; null if it is left out. */
  quickMinutes: number | null;
  /** Names of its own options. Each takes a value. */
  options: readonly string[];
}

export const PARTS = {
  cost: { minutes: 0.5, quickMinutes: 0.2, options: [] },
  ways: { minutes: 25, quickMinutes: 2.5, options: ['rounds'] },
  'in-flight': { minutes: 32, quickMinutes: 1.3, options: ['rounds', 'counts', 'ways', 'builds'] },
  sigkill: { minutes: 9.5, quickMinutes: null, options: ['count'] },
  fleet: { minutes: 27, quickMinutes: null, options: ['counts', 'heap'] },
  'event-delay': { minutes: 7, quickMinutes: 1, options: [] },
  rollout: { minutes: 9, quickMinutes: 0.7, options: ['servers', 'sites', 'limit'] },
  receiver: { minutes: 1, quickMinutes: 0.3, options: ['deliveries'] },
  'event-flood': { minutes: 2.5, quickMinutes: null, options: ['seconds'] },
  'cold-restart': { minutes: 4, quickMinutes: null, options: ['count', 'events', 'interval'] },
} as const satisfies Record<string, Part>;

/** How long all parts may take together. */
export const MINUTES_OF_ALL = { full: 120, quick: 10 };

export type PartName = keyof typeof PARTS;

export const isPart = (name: string): name is PartName => name in PARTS;

export const isQuickPart = (name: PartName): boolean => PARTS[name].quickMinutes !== null;

/** A part that `--quick` leaves out takes as long as ever, if it is named. */
export const minutesOf = (name: PartName, isQuick: boolean): number =>
  (isQuick ? PARTS[name].quickMinutes : null) ?? PARTS[name].minutes;

export const minutesOfAll = (names: readonly PartName[], isQuick: boolean): number =>
  names.reduce((sum, name) => sum + minutesOf(name, isQuick), 0);

/** How much of the time that is left the first of these parts gets. */
export const shareOfFirst = (names: readonly PartName[], isQuick: boolean, leftMinutes: number): number =>
  (leftMinutes * minutesOf(names[0]!, isQuick)) / minutesOfAll(names, isQuick);
