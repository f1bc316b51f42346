/** Durations as people write them. Pure. */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
export const HOUR_MS = UNIT_MS.h;
export const DAY_MS = 24 * HOUR_MS;

/** Parses `500ms`, `10s`, `2m`, `1h` or a bare number of seconds. @returns milliseconds; null for anything else */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  const ms = match === null ? NaN : Math.round(Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS]);
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Formats in the largest unit that gives a whole number: 90000 is `90s`. */
export function durationText(ms: number): string {
  const unit = (['h', 'm', 's'] as const).find((it) => ms >= UNIT_MS[it] && ms % UNIT_MS[it] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}

/** For comparisons: `284 s`, `0.4 s`. */
export const secondsText = (ms: number): string =>
  `${ms < 10 * UNIT_MS.s ? Number((ms / 1_000).toFixed(1)) : Math.round(ms / 1_000)} s`;

/** For a glance: `1h02m`, `2m10s`, `45s`. */
export function glanceText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  const two = (count: number) => String(count % 60).padStart(2, '0');
  if (minutes < 1) return `${seconds}s`;
  return hours < 1 ? `${minutes}m${two(seconds)}s` : `${hours}h${two(minutes)}m`;
}
