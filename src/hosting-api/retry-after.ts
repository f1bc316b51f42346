/**
 * Milliseconds to wait according to a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date), never negative;
 * undefined if the header is missing or invalid.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  // Date.parse also accepts loose forms such as "-5", so the text must begin like an HTTP date.
  const dateMs = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
