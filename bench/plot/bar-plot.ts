import { linearAxis } from './axis.ts';
import { AREA, colour, legend, legendHeight, rounded, SIZE, svg, text } from './svg.ts';

export interface Bar {
  name: string;
  value: number;
  text: string;
}

const [NAMES, SPARE, BAR_STEP] = [200, 120, 34];
const WIDTH = SIZE.width - NAMES - SPARE;

export function barPlot(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const draw = ({ name, value, text: label }: Bar, index: number) => {
    const width = most > 0 ? (WIDTH * value) / most : 0;
    return [...barNamed(name, index), rect({ left: 0, width, index }, colour(index)), barText(label, width, index)];
  };
  return svg(title, bars.flatMap(draw), heightOf(bars));
}

export interface StackedBar {
  name: string;
  /** In the order of the names of the parts. */
  values: readonly number[];
}

/** Bars that add up their parts. The legend with the names of the parts is below. */
export function stackedBarPlot(title: string, partNames: readonly string[], bars: readonly StackedBar[]): string {
  const sums = bars.map(({ values }) => values.reduce((sum, it) => sum + it, 0));
  const scale = WIDTH / linearAxis(Math.max(...sums)).ticks.at(-1)!;
  const draw = ({ name, values }: StackedBar, index: number) => {
    let left = 0;
    const parts = values.map((value, part) => {
      const drawn = rect({ left, width: value * scale, index }, colour(part));
      left += value * scale;
      return drawn;
    });
    return [...barNamed(name, index), ...parts, barText(String(sums[index]), left, index)];
  };
  const below = heightOf(bars);
  return svg(
    title,
    [...bars.flatMap(draw), ...legend(partNames, { x: NAMES, y: below + 10 })],
    below + legendHeight(partNames) + 10,
  );
}

const heightOf = (bars: readonly unknown[]): number => AREA.top + bars.length * BAR_STEP + 10;
const topOf = (index: number): number => AREA.top + index * BAR_STEP;

const barNamed = (name: string, index: number): string[] => [
  text(name, { x: NAMES - 10, y: topOf(index) + 21, anchor: 'end' }),
];

const barText = (content: string, width: number, index: number): string =>
  text(content, { x: NAMES + width + 8, y: topOf(index) + 21 });

const rect = ({ left, width, index }: { left: number; width: number; index: number }, fill: string): string =>
  `<rect x="${rounded(NAMES + left)}" y="${topOf(index) + 6}" width="${rounded(width)}" height="22" fill="${fill}"/>`;
