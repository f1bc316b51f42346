/** A terminal that a test can read: it understands what live lines write, and wraps long lines as terminals do. */
import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

export interface Screen {
  stream: NodeJS.WriteStream;
  /** What is visible, row by row. */
  rows: () => string[];
  /** Everything that was written, with colors. */
  raw: () => string;
  resize: (columns: number) => void;
}

const PIECES = /\u001b\[(\d*)([A-Za-z])|[^\u001b]+/g; // eslint-disable-line no-control-regex -- terminals act on these

export function screenOf({ columns = 80, rows = 24 } = {}): Screen {
  let lines = [''];
  let up = 0;
  let raw = '';
  const size = { columns, rows };
  const wrapped = (line: string) => line.match(new RegExp(`.{1,${size.columns}}`, 'gu')) ?? [''];

  function act(count: string, command: string): void {
    if (command === 'A') up = Number(count === '' ? 1 : count);
    if (command !== 'J') return;
    const left = lines.flatMap(wrapped);
    lines = [...left.slice(0, left.length - 1 - up), ''];
    up = 0;
  }

  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const text = chunk.toString();
      raw += text;
      for (const [piece, count = '', command] of text.matchAll(PIECES)) {
        if (command !== undefined) act(count, command);
        else {
          const [first = '', ...more] = piece.split('\n');
          lines = [...lines.slice(0, -1), `${lines.at(-1)}${first}`, ...more];
        }
      }
      done();
    },
  });
  return {
    stream: Object.defineProperties(Object.assign(stream, { isTTY: true }), {
      columns: { get: () => size.columns },
      rows: { get: () => size.rows },
    }) as unknown as NodeJS.WriteStream,
    rows: () => lines.flatMap(wrapped).map((line) => stripVTControlCharacters(line)),
    raw: () => raw,
    resize: (to) => void (size.columns = to),
  };
}

/** The keys of a terminal, which a test presses. */
export class Keys extends EventEmitter {
  readonly isTTY = true;
  isRaw = false;
  readonly stream = this as unknown as NodeJS.ReadStream;

  press(keys: string): void {
    this.emit('data', Buffer.from(keys));
  }

  setRawMode(isRaw: boolean): this {
    this.isRaw = isRaw;
    return this;
  }

  pause(): this {
    return this;
  }
}
