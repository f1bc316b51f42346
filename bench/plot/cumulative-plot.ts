import { shareOf } from '../statistics/share-of.ts';
import { linearAxis, logAxis, xLabels, xOf, xTitle, yLabels, yOf } from './axis.ts';
import { colour, legend, svg } from './svg.ts';

export interface Curve {
  name: string;
  /** In milliseconds, ascending. */
  values: readonly number[];
}

const POINTS = 200;
const LEAST_MS = 1;
/** The shares that get a line. */
const MARKED = [0, 0.5, 0.9, 0.99];

/** The share of values up to each one, on a logarithmic axis of milliseconds. Curves without values are left out. */
export function cumulativePlot(title: string, all: readonly Curve[], xText = ''): string {
  const curves = all.filter(({ values }) => values.length > 0);
  const x = logAxis(LEAST_MS, Math.max(10, ...curves.map(({ values }) => values.at(-1)!)));
  const y = { ...linearAxis(1), ticks: MARKED };
  const line = ({ values }: Curve) =>
    Array.from({ length: POINTS + 1 }, (_, index) => {
      const share = index / POINTS;
      return `${xOf(x, shareOf(values, share))},${yOf(y, share)}`;
    });
  return svg(title, [
    ...xLabels(x, (ms) => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`)),
    ...yLabels(y, (share) => `${share * 100} %`),
    ...curves.map(
      (curve, index) =>
        `<polyline points="${unrepeated(line(curve)).join(' ')}" fill="none" stroke="${colour(index)}" stroke-width="2"/>`,
    ),
    ...legend(curves.map(({ name }) => name)),
    xTitle(xText),
  ]);
}

const unrepeated = (points: readonly string[]): string[] =>
  points.filter((point, index) => point !== points[index - 1]);
