/** Draws of durations. Pure. */

/** A factor around 1. @param deviation of its logarithm. @param random from 0 up to 1 */
export function logNormal(deviation: number, random: () => number): number {
  const [radius, angle] = [Math.sqrt(-2 * Math.log(1 - random())), 2 * Math.PI * random()];
  return Math.exp(deviation * radius * Math.cos(angle));
}
