/** What past durations say about the next one. Pure. */

/** By cells of time since the acceptance. Cell i lies between `edgesMs[i]` and `edgesMs[i + 1]`. */
export interface Expectation {
  edgesMs: readonly number[];
  /** The probability that the operation ends in the cell. */
  mass: readonly number[];
  /** The probability that it is still in progress when the cell begins. */
  survival: readonly number[];
}

const FIRST_CELL_MS = 1_000;
/** Each cell is this much longer than the one before: half of the least bandwidth. */
const GROWTH = 1.015;
/** Of a duration, as the standard deviation of its logarithm. */
const LEAST_BANDWIDTH = 0.03;
/** A part of the probability is spread evenly over this many times the horizon. */
const EVEN_REACH = 1.5;
const LOGISTIC_SCALE = Math.sqrt(3) / Math.PI;

/**
 * A kernel density of the logarithms. Durations that fall into clusters, such as with and without a cache, get the
 * bandwidth of their cluster.
 *
 * @param pastMs null for an operation that did not end in time
 * @param horizonMs the last read
 */
export function expectDuration(pastMs: readonly (number | null)[], horizonMs: number): Expectation {
  const edgesMs = edgesUpTo(horizonMs);
  const known = pastMs.filter((ms) => ms !== null);
  const kernels = clustersOf(known.map((ms) => Math.log(Math.max(ms, 1))).sort((a, b) => a - b)).flatMap((cluster) => {
    const scale = LOGISTIC_SCALE * bandwidthOf(cluster);
    return cluster.map((center) => ({ center, scale }));
  });
  const evenPart = 1 / (1 + pastMs.length);
  const endedBy = (ms: number): number => {
    const at = Math.log(ms);
    const sum = kernels.reduce((total, { center, scale }) => total + 1 / (1 + Math.exp((center - at) / scale)), 0);
    return evenPart * (ms / (EVEN_REACH * horizonMs)) + (1 - evenPart) * (sum / pastMs.length);
  };
  const ended = edgesMs.map(endedBy);
  return {
    edgesMs,
    mass: ended.slice(1).map((part, cell) => part - ended[cell]!),
    survival: ended.slice(0, -1).map((part) => 1 - part),
  };
}

function edgesUpTo(horizonMs: number): number[] {
  const edges = [0];
  for (let ms = FIRST_CELL_MS; ms < horizonMs; ms *= GROWTH) edges.push(ms);
  return [...edges, horizonMs];
}

/** Narrower for more durations, and for closer ones (the usual rule of thumb for kernel densities). */
function bandwidthOf(logs: readonly number[]): number {
  return Math.max(0.9 * deviationOf(logs) * logs.length ** -0.2, LEAST_BANDWIDTH);
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

const LEAST_IN_CLUSTER = 3;
/** A gap splits a sample if it is this many times the larger deviation beside it. */
const CLEAR_GAP = 3;

/** @param sorted in ascending order */
function clustersOf(sorted: readonly number[]): (readonly number[])[] {
  let split: { at: number; gap: number } | null = null;
  for (let at = LEAST_IN_CLUSTER; at <= sorted.length - LEAST_IN_CLUSTER; at += 1) {
    const gap = sorted[at]! - sorted[at - 1]!;
    if (gap > (split?.gap ?? 0)) split = { at, gap };
  }
  if (split === null) return [sorted];
  const [low, high] = [sorted.slice(0, split.at), sorted.slice(split.at)];
  if (split.gap < CLEAR_GAP * Math.max(deviationOf(low), deviationOf(high), LEAST_BANDWIDTH)) return [sorted];
  return [...clustersOf(low), ...clustersOf(high)];
}
