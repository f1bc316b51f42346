/** @returns the value below which this share of them lies, such as 0.5 for the median. @param sorted ascending */
export function shareOf(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
