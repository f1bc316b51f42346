/** Axes: where a value is drawn, and which values get a label. */
import { AREA, rounded, text } from './svg.ts';

export interface Axis {
  /** From 0 to 1 along the axis. */
  at(value: number): number;
  ticks: number[];
}

const MOST_TICKS = 6;

/** From zero up to this value. */
export function linearAxis(most: number): Axis {
  const step = stepFor(most > 0 ? most / MOST_TICKS : 1);
  const count = Math.max(1, Math.ceil(most / step - 1e-9));
  const end = count * step;
  return { at: (value) => value / end, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) };
}

/** The least of 1, 2 and 5 times a power of ten that is not smaller. */
function stepFor(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

/** Whole powers of ten around these values. Smaller values are drawn at its start. */
export function logAxis(least: number, most: number): Axis {
  const first = Math.floor(Math.log10(least));
  const decades = Math.max(1, Math.ceil(Math.log10(most) - 1e-9) - first);
  const start = 10 ** first;
  return {
    at: (value) => Math.log10(Math.max(value, start) / start) / decades,
    ticks: Array.from({ length: decades + 1 }, (_, index) => 10 ** (first + index)),
  };
}

export const xOf = (axis: Axis, value: number): number =>
  rounded(AREA.left + (AREA.right - AREA.left) * axis.at(value));

export const yOf = (axis: Axis, value: number): number =>
  rounded(AREA.bottom - (AREA.bottom - AREA.top) * axis.at(value));

export const xLabels = (axis: Axis, label: (value: number) => string): string[] =>
  axis.ticks.map((tick) => text(label(tick), { x: xOf(axis, tick), y: AREA.bottom + 18, anchor: 'middle' }));

/** With a line across the plot for each. */
export const yLabels = (axis: Axis, label: (value: number) => string): string[] =>
  axis.ticks.flatMap((tick) => {
    const y = yOf(axis, tick);
    return [
      `<line x1="${AREA.left}" x2="${AREA.right}" y1="${y}" y2="${y}" stroke="#ddd"/>`,
      text(label(tick), { x: AREA.left - 8, y: y + 4, anchor: 'end' }),
    ];
  });

export const xTitle = (content: string): string =>
  text(content, { x: (AREA.left + AREA.right) / 2, y: AREA.bottom + 40, anchor: 'middle' });
