/**
 * All choices of a play, from a seed or from a tape. Zero always means that nothing happens, at once, in order, so a
 * tape with more zeros is a simpler story, and a tape that ends goes on with zeros.
 */
import { createHash } from 'node:crypto';

export interface Tape {
  /** A number from 0 to n − 1. */
  choose(what: string, n: number): number;
  /** Every choice so far, less those that had one answer only. */
  readonly choices: readonly number[];
}

export function seededTape(seed: number): Tape {
  const next = numbersFrom(seed);
  return tapeFrom((n) => next() % n);
}

export function recordedTape(choices: readonly number[]): Tape {
  let index = 0;
  return tapeFrom((n) => Math.min(choices[index++] ?? 0, n - 1));
}

function tapeFrom(draw: (n: number) => number): Tape {
  const choices: number[] = [];
  const choose = (_what: string, n: number) => {
    if (n <= 1) return 0;
    const choice = draw(n);
    choices.push(choice);
    return choice;
  };
  return { choose, choices };
}

/** Numbers below 2^32 that look random and are the same everywhere. */
function numbersFrom(seed: number): () => number {
  let block = Buffer.alloc(0);
  let blocks = 0;
  return () => {
    if (block.length === 0)
      block = createHash('sha256')
        .update(`${seed}:${(blocks += 1)}`)
        .digest();
    const number = block.readUInt32LE();
    block = block.subarray(4);
    return number;
  };
}
