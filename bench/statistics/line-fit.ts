/** A straight line through points, by least squares. Pure. */

export type Point = readonly [x: number, y: number];

export interface Line {
  slope: number;
  intercept: number;
}

/** @returns null if the points do not determine it */
export function lineThrough(points: readonly Point[]): Line | null {
  const count = points.length;
  const [xMean, yMean] = [0, 1].map((axis) => points.reduce((sum, it) => sum + it[axis]!, 0) / count) as [
    number,
    number,
  ];
  const spread = points.reduce((sum, [x]) => sum + (x - xMean) ** 2, 0);
  if (count < 2 || spread === 0) return null;
  const slope = points.reduce((sum, [x, y]) => sum + (x - xMean) * (y - yMean), 0) / spread;
  return { slope, intercept: yMean - slope * xMean };
}
