/** How long ago something was, for a column. Pure. */

/** `42 s`, `12 min`, `5 h`, `3 d`; `–` if it is not known. */
export function ageText(at: string | null, nowMs: number): string {
  if (at === null) return '–';
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1_000));
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3_600)];
  if (minutes < 1) return `${seconds} s`;
  if (hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
