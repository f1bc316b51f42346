/** Amounts as people read them. */
import type { Difference } from '../statistics/differences.ts';
import type { Spread } from '../statistics/spread.ts';

export const NONE = '–';

export const number = (value: number): string => Math.round(value).toLocaleString('en-US');
export const fixed = (value: number, digits: number): string => (Number.isNaN(value) ? NONE : value.toFixed(digits));

/** Without its unit. Small values keep two digits. */
const shortMs = (value: number): string => (value < 10 ? value.toFixed(1) : number(value));

export const ms = (value: number): string => (Number.isNaN(value) ? NONE : `${shortMs(value)} ms`);
export const seconds = (valueMs: number): string =>
  Number.isNaN(valueMs) ? NONE : `${(valueMs / 1_000).toFixed(1)} s`;
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Median, p99 and most. */
export const spreadText = ({ count, p50, p99, most }: Spread): string =>
  count === 0 ? NONE : `${[p50, p99, most].map(shortMs).join(' / ')} ms`;

export const timesText = (times: Difference | null): string =>
  times === null ? NONE : `${times.median.toFixed(2)} (${times.from.toFixed(2)} to ${times.to.toFixed(2)})`;
