import type { Line, Point } from '../statistics/line-fit.ts';
import { linearAxis, logAxis, xLabels, xOf, xTitle, yLabels, yOf, type Axis } from './axis.ts';
import { AREA, colour, legend, svg, text } from './svg.ts';

interface PlottedLine {
  name: string;
  points: readonly Point[];
  /** Drawn dashed. The points are then not connected. */
  fit?: Line | null;
}

export interface LinePlot {
  title: string;
  xText: string;
  yText: string;
  lines: readonly PlottedLine[];
  logY?: boolean;
  /** Vertical lines with a text. */
  marks?: readonly { x: number; text: string }[];
  /** Whether each point gets a dot. Default: yes. */
  dots?: boolean;
}

export function linePlot({ title, xText, yText, lines, logY = false, marks = [], dots = true }: LinePlot): string {
  const points = lines.flatMap((line) => line.points).filter(([, y]) => !logY || y > 0);
  const values = points.map(([, y]) => y);
  const [x, y]: [Axis, Axis] = [
    linearAxis(Math.max(0, ...points.map(([value]) => value))),
    logY ? logAxis(Math.min(...values, 1), Math.max(...values, 10)) : linearAxis(Math.max(0, ...values)),
  ];
  const draw = ({ points: own, fit }: PlottedLine, index: number) => {
    const drawn = own.filter(([, value]) => !logY || value > 0);
    const stroke = `fill="none" stroke="${colour(index)}" stroke-width="2"`;
    return [
      ...(fit === undefined ? [`<polyline points="${placed(drawn, x, y)}" ${stroke}/>`] : []),
      ...(fit ? [`<polyline points="${placed(endsOf(fit, x), x, y)}" ${stroke} stroke-dasharray="5 4"/>`] : []),
      ...(dots
        ? drawn.map((it) => `<circle cx="${xOf(x, it[0])}" cy="${yOf(y, it[1])}" r="3" fill="${colour(index)}"/>`)
        : []),
    ];
  };
  return svg(title, [
    ...xLabels(x, String),
    ...yLabels(y, (value) => String(Number(value.toPrecision(6)))),
    ...marks.flatMap((mark) => [
      `<line x1="${xOf(x, mark.x)}" x2="${xOf(x, mark.x)}" y1="${AREA.top}" y2="${AREA.bottom}" stroke="#888" stroke-dasharray="2 3"/>`,
      text(mark.text, { x: xOf(x, mark.x) + 4, y: AREA.top + 10 }),
    ]),
    ...lines.flatMap(draw),
    ...legend(lines.map(({ name }) => name)),
    xTitle(xText),
    text(yText, { x: AREA.left - 62, y: AREA.top - 13 }),
  ]);
}

/** The part of a fitted line that is not below zero. */
function endsOf({ slope, intercept }: Line, x: Axis): Point[] {
  const last = x.ticks.at(-1)!;
  const first = slope > 0 ? Math.max(0, -intercept / slope) : 0;
  const end = slope < 0 ? Math.min(last, -intercept / slope) : last;
  return [first, end].map((value) => [value, Math.max(0, intercept + slope * value)]);
}

const placed = (points: readonly Point[], x: Axis, y: Axis): string =>
  points.map(([xValue, yValue]) => `${xOf(x, xValue)},${yOf(y, yValue)}`).join(' ');
