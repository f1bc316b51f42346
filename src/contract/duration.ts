/** Formats and parses durations as people write them. Pure. */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
export const HOUR_MS = UNIT_MS.h;
export const DAY_MS = UNIT_MS.d;

export const DURATION_REMEDY = 'a value like 500ms, 10s, 2m, 1h, 7d or 2w; a bare number is seconds';

/** Parses `500ms`, `10s`, `2m`, `1h`, `7d`, `2w` or a bare number of seconds. @returns milliseconds; null for anything else */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(text.trim());
  const ms = match === null ? NaN : Math.round(Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS]);
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Formats in the largest unit that gives a whole number, such as `90s` for 90000. */
export function durationText(ms: number): string {
  const unit = (['h', 'm', 's'] as const).find((it) => ms >= UNIT_MS[it] && ms % UNIT_MS[it] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}

/**
 * Formats a long time in its two largest units: `10d18h`, `2h05m`, `5m`, `30s`. It rounds up, so that it never promises
 * less.
 */
export function aboutText(ms: number): string {
  if (ms < UNIT_MS.m) return `${Math.ceil(ms / UNIT_MS.s)}s`;
  const minutes = Math.ceil(ms / UNIT_MS.m);
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes}m`;
  if (hours < 48) return `${hours}h${minutes % 60 === 0 ? '' : `${String(minutes % 60).padStart(2, '0')}m`}`;
  const wholeHours = Math.ceil(minutes / 60);
  return `${Math.floor(wholeHours / 24)}d${wholeHours % 24 === 0 ? '' : `${wholeHours % 24}h`}`;
}

/** Formats a total: `5m`, `1m30s`, `2h05m`. */
export const totalText = (ms: number): string =>
  ms < UNIT_MS.m ? durationText(ms) : glanceText(ms).replace(/([hm])00[ms]$/, '$1');

/** Formats a duration for comparisons: `284 s`, `0.4 s`. */
export const secondsText = (ms: number): string =>
  `${ms < 10 * UNIT_MS.s ? Number((ms / 1_000).toFixed(1)) : Math.round(ms / 1_000)} s`;

/** Formats a duration for a glance: `1h02m`, `2m10s`, `45s`. */
export function glanceText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  const two = (count: number) => String(count % 60).padStart(2, '0');
  if (minutes < 1) return `${seconds}s`;
  return hours < 1 ? `${minutes}m${two(seconds)}s` : `${hours}h${two(minutes)}m`;
}

/** @param whose the clock to compare with, as in `Temporal's` */
export function clockDifference(whose: string, aheadMs: number): string {
  const seconds = Math.abs(aheadMs / 1000).toFixed(1);
  return `this machine's clock is ${seconds} s ${aheadMs >= 0 ? 'ahead of' : 'behind'} ${whose}`;
}
