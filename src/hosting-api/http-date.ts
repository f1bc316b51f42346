/** Reads times in HTTP headers. */

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const MONTH = '(?<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '(?<time>\\d\\d:\\d\\d:\\d\\d)';

/** The forms of RFC 9110, 5.6.7: the usual one, and two that are obsolete. All of them are in UTC. */
const FORMS = [
  `${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  `${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  `${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** @returns milliseconds since 1970; null unless the text has one of the forms and the day exists */
export function httpDateMs(text: unknown, nowMs = Date.now()): number | null {
  if (typeof text !== 'string') return null;
  const found = FORMS.map((it) => it.exec(text.trim())?.groups).find((it) => it !== undefined);
  if (found === undefined) return null;
  const { day = '', month, year = '', time } = found;
  const utc = `${day.replace(' ', '0')} ${month} ${year.length === 2 ? fullYear(Number(year), nowMs) : year} ${time} GMT`;
  const ms = Date.parse(utc);
  // Date.parse takes February 30 for a day of March.
  return new Date(ms).toUTCString().endsWith(utc) ? ms : null;
}

/** A year of two digits is at most 50 years ahead. */
function fullYear(year: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const ofThisCentury = thisYear - (thisYear % 100) + year;
  return ofThisCentury > thisYear + 50 ? ofThisCentury - 100 : ofThisCentury;
}
