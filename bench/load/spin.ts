/** A fixed piece of work shows how fast the machine is just now. */

const ROUNDS = 20_000_000;
const US_PER_MS = 1_000;
/** Compared with the fastest so far. */
const MOST_SLOWER = 0.05;

/** Milliseconds of CPU time for always the same work: more of it means a slower machine. */
export function spin(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let round = 0; round < ROUNDS; round += 1) sum = (sum + round * round) % 1_000_003;
  const { user } = process.cpuUsage(before);
  return sum < 0 ? NaN : user / US_PER_MS;
}

export interface Steadiness {
  /** How many measurements were repeated, because the machine was slower than before or after. */
  readonly again: number;
  /** Repeats a measurement on a machine that is slower, at most as often as was given. */
  measure<T extends { spinMs: readonly number[] }>(once: () => Promise<T>): Promise<T>;
}

export function createSteadiness(mostAgain: number): Steadiness {
  let [again, fastestMs] = [0, Infinity];
  return {
    get again() {
      return again;
    },
    async measure(once) {
      for (let made = 0; ; made += 1) {
        const measured = await once();
        fastestMs = Math.min(fastestMs, ...measured.spinMs);
        const isSlow = Math.max(...measured.spinMs) > (1 + MOST_SLOWER) * fastestMs;
        if (!isSlow || made >= mostAgain) return measured;
        again += 1;
      }
    },
  };
}
