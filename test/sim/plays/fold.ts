/** Shortens a story: a block of lines that repeats, such as a poll, is shown once. */

export interface Line {
  atMs: number;
  who: string;
  what: string;
}

/** In lines. A poll has three. */
const LONGEST_BLOCK = 9;
const LEAST_REPEATS = 2;

export function folded(lines: readonly Line[]): Line[] {
  const shown: Line[] = [];
  for (let at = 0; at < lines.length;) {
    const { size, repeats } = repeatedBlock(lines, at);
    shown.push(...lines.slice(at, at + size));
    at += size * (1 + repeats);
    if (repeats > 0)
      shown.push({ atMs: lines[at - 1]!.atMs, who: '…', what: `repeated ${repeats} more times, until now` });
  }
  return shown;
}

/** The shortest block from here that repeats, or this line alone. */
function repeatedBlock(lines: readonly Line[], from: number): { size: number; repeats: number } {
  for (let size = 1; size <= LONGEST_BLOCK; size += 1) {
    let end = from + size;
    while (end < lines.length && isSame(lines[end]!, lines[end - size]!)) end += 1;
    const repeats = Math.floor((end - from) / size) - 1;
    if (repeats >= LEAST_REPEATS) return { size, repeats };
  }
  return { size: 1, repeats: 0 };
}

/** Apart from durations, which are jittered. */
const isSame = (one: Line, other: Line): boolean => textOf(one) === textOf(other);
const textOf = ({ who, what }: Line): string => `${who} ${what.replaceAll(/\d+ ms/g, 'ms')}`;
