/** Shows a screen that is redrawn every second until the user ends it: `q` exits 0, Ctrl-C 130, SIGTERM 143. */
import { createLiveLines, screenSize, type LiveLine, type ScreenSize } from '../../process/live-lines.ts';
import { onSignal, SIGNAL_EXIT_CODES } from '../../process/signals.ts';
import { TIMING } from '../../contract/timing.ts';
import { EXIT } from '../../contract/errors.ts';
import { follow } from '../../cli/follow.ts';

export interface Terminal {
  output: NodeJS.WriteStream;
  input: NodeJS.ReadStream;
}

/** Null if stdout is no terminal. */
export const ownTerminal = (): Terminal | null =>
  process.stdout.isTTY ? { output: process.stdout, input: process.stdin } : null;

/** @param look returns what to show now. @returns the exit code */
export async function showUntilQuit(
  look: (size: ScreenSize) => readonly LiveLine[],
  { output, input }: Terminal,
): Promise<number> {
  const live = createLiveLines(output);
  const drawing = follow(
    () => Promise.resolve(look(screenSize(output))),
    (lines) => live.draw(lines),
    TIMING.cli.terminalPeriodMs,
  );
  const exitCode = await quit(input);
  drawing.stop();
  live.keep();
  return exitCode;
}

/** In raw mode, the terminal does not turn Ctrl-C into a signal. */
const CTRL_C = '\u0003';

async function quit(input: NodeJS.ReadStream): Promise<number> {
  let end: (exitCode: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => (end = resolve));
  const release = onSignal((signal) => end(SIGNAL_EXIT_CODES[signal]));
  const onKeys = (keys: Buffer | string) => {
    const text = keys.toString();
    if (text.includes(CTRL_C)) end(EXIT.interrupted);
    else if (/q/i.test(text)) end(EXIT.completed);
  };
  // The terminal is gone.
  const onGone = () => end(EXIT.completed);
  if (input.isTTY) {
    input.setRawMode(true);
    input.on('data', onKeys).once('end', onGone).on('error', onGone);
  }
  try {
    return await ended;
  } finally {
    release();
    if (input.isTTY) {
      input.setRawMode(false);
      input.off('data', onKeys).off('end', onGone).pause();
    }
  }
}
