/** What is seen of a run while a command waits for it: one live line on a terminal, else a line for each change. */
import type { Contact, Run, RunStatus } from '../../starter.ts';
import { createLiveLines } from '../../process/live-lines.ts';
import { COUNTDOWN, inFlight, waitingSentence, type Style } from '../../contract/wording/explain-wait.ts';

const TERMINAL_PERIOD_MS = 1_000;
const LOG_PERIOD_MS = 3_000;
/** A worker was seen when the run was started; one that is busy may take a moment. */
const BEGINS_WITHIN_MS = 15_000;

/** Shows the run on stderr until stopped. */
export function followLive(run: Run, stream: NodeJS.WriteStream = process.stderr): { stop(): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  let shown = '';
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    // What can't be seen just now is no error of the wait.
    const status = await run.status().catch(() => null);
    if (stopped) return;
    if (status !== null) show(liveLine(status, terminal !== null));
    timer = setTimeout(() => void look(), terminal === null ? LOG_PERIOD_MS : TERMINAL_PERIOD_MS);
  }

  function show(line: string): void {
    if (terminal !== null) terminal.draw([line]);
    else if (line !== shown) stream.write(`${line}\n`);
    shown = line;
  }

  void look();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      terminal?.clear();
    },
  };
}

/** `deploy a1: try 7 of 30, last "building", next read in 4 s`. @param countdown whether to tell what changes by itself */
export function liveLine({ result, waiting, contact }: RunStatus, countdown: boolean): string {
  if (contact === 'not_begun' && Date.now() - Date.parse(result.startedAt ?? '') < BEGINS_WITHIN_MS) return 'starting';
  if (contact !== 'answers' && contact !== 'closed') return CONTACT[contact];
  const what = inFlight(result);
  if (waiting === null) return what ?? result.phase ?? 'starting';
  return waitingSentence(waiting, what, countdown ? COUNTDOWN : STILL);
}

/** Without what changes by itself: each change is a line. */
const STILL: Style = { ...COUNTDOWN, when: null };

export const CONTACT: Record<Exclude<Contact, 'answers' | 'closed'>, string> = {
  not_begun: 'no worker has begun the run yet',
  silent: 'no worker answers for the run: it goes on when one is there again',
  stuck: "a worker fails at the run again and again, which is a defect: see the worker's log",
};
