/** A line that is drawn over again, where the stream is a terminal. */
import { clearLine, cursorTo } from 'node:readline';
import { plainText } from './text.ts';

export interface LiveLine {
  draw(text: string): void;
  /** Leaves the terminal as if nothing had been drawn. */
  clear(): void;
}

export function createLiveLine(stream: NodeJS.WriteStream): LiveLine {
  let drawn = false;
  const clear = () => {
    if (!drawn) return;
    cursorTo(stream, 0);
    clearLine(stream, 0);
    drawn = false;
  };
  return {
    draw(text) {
      clear();
      // A line that wraps could not be cleared.
      stream.write(plainText(text, Math.max(20, (stream.columns ?? 80) - 1)));
      drawn = true;
    },
    clear,
  };
}
