/** Plots as SVG, written directly. */
import { shareOf } from './statistics/share-of.ts';

export interface Curve {
  name: string;
  /** Ascending. */
  values: readonly number[];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 360, 60, 50, 30];
const COLOURS = ['#1b6ca8', '#7a3e9d', '#c1440e', '#2e7d32', '#b8860b', '#455a64'];
const POINTS = 200;
const LEAST = 1;
/** The shares that get a line. */
const MARKED = [0, 0.5, 0.9, 0.99];

/** The share of values up to each one, on a logarithmic axis of milliseconds. */
export function cumulativePlot(title: string, curves: readonly Curve[]): string {
  const most = Math.max(10, ...curves.map(({ values }) => values.at(-1) ?? 0));
  const decades = Math.ceil(Math.log10(most));
  const x = (ms: number) => rounded(LEFT + ((WIDTH - LEFT - 20) * Math.log10(Math.max(ms, LEAST))) / decades);
  const y = (share: number) => rounded(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share);
  const line = ({ values }: Curve) =>
    Array.from({ length: POINTS + 1 }, (_, index) => {
      const share = index / POINTS;
      return `${x(shareOf(values, share))},${y(share)}`;
    }).join(' ');
  const ticks = Array.from({ length: decades + 1 }, (_, power) => 10 ** power);
  return svg(title, [
    ...ticks.map((ms) => `<text x="${x(ms)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${timeText(ms)}</text>`),
    ...MARKED.map((share) => `<text x="${LEFT - 8}" y="${y(share) + 4}" text-anchor="end">${share * 100} %</text>`),
    ...MARKED.map((share) => `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(share)}" y2="${y(share)}" stroke="#ddd"/>`),
    ...curves.map(
      (curve, index) => `<polyline points="${line(curve)}" fill="none" stroke="${colour(index)}" stroke-width="2"/>`,
    ),
    ...legend(curves.map(({ name }) => name)),
  ]);
}

export interface Bar {
  name: string;
  value: number;
  text: string;
}

export function barPlot(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const step = (HEIGHT - TOP - 20) / bars.length;
  return svg(
    title,
    bars.flatMap(({ name, value, text }, index) => {
      const [top, width] = [rounded(TOP + index * step), rounded(((WIDTH - 300) * value) / most)];
      return [
        `<text x="160" y="${rounded(top + step / 2 + 4)}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="170" y="${rounded(top + step * 0.2)}" width="${width}" height="${rounded(step * 0.6)}" fill="${colour(index)}"/>`,
        `<text x="${rounded(178 + width)}" y="${rounded(top + step / 2 + 4)}">${escaped(text)}</text>`,
      ];
    }),
  );
}

function svg(title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${WIDTH / 2}" y="18" text-anchor="middle" font-size="14">${escaped(title)}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const legend = (names: readonly string[]): string[] =>
  names.map(
    (name, index) =>
      `<text x="${WIDTH - 30}" y="${HEIGHT - BOTTOM - 14 * (names.length - index)}" text-anchor="end" fill="${colour(index)}">${escaped(name)}</text>`,
  );

const rounded = (length: number): number => Math.round(10 * length) / 10;
const colour = (index: number): string => COLOURS[index % COLOURS.length]!;
const timeText = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
