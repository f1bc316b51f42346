/**
 * Milliseconds to wait by a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date), never negative;
 * undefined where there is none or it can't be read.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // Date.parse also takes loose forms, "-5" among them: only what begins like an HTTP date counts.
  const dateMs = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
