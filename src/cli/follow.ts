/** Shows a run while a command waits for it: one live line on a terminal, else one line for each change and every few minutes. */
import type { Contact, Run, RunStatus } from '../starter.ts';
import { BelayError } from '../contract/errors.ts';
import { createLiveLines, type LiveLines } from '../process/live-lines.ts';
import { COUNTDOWN, nameOfPartInFlight, waitingSentence, type Style } from '../contract/explain-wait.ts';
import { TIMING } from '../contract/timing.ts';
import { moveRuns, versionText } from '../contract/worker-identity.ts';
import { etaText, type Eta } from '../features/advice/actions.ts';
import { printTo } from '../process/print.ts';

/** Where to show the run, and what a terminal shows. */
interface FollowOptions {
  stream?: NodeJS.WriteStream;
  lines?: (status: RunStatus, eta: Eta | null) => string[];
  /** How long the operation in flight usually takes, as far as known by now. */
  eta?: (status: RunStatus) => Eta | null;
}

/** Shows the run until stopped: by default its live line, on stderr. */
export function followLive(
  run: Run,
  {
    stream = process.stderr,
    lines = (status, eta) => [liveLine(status, true, eta)],
    eta = () => null,
  }: FollowOptions = {},
): Following {
  return followOn(
    stream,
    () => run.progress(),
    (status, { terminal, printIfNews }) => {
      // The caller prints the final status.
      if (status.contact === 'closed') return;
      const usual = eta(status);
      if (terminal !== null) terminal.draw(lines(status, usual));
      else printIfNews(liveLine(status, false, usual));
    },
  );
}

/** `deployment of a1: try 7 of 30, last status "building", next read in 4 s`. @param countdown show the next read */
export function liveLine(status: RunStatus, countdown: boolean, eta: Eta | null = null): string {
  const { result, waiting } = status;
  if (isStarting(status)) return 'starting';
  const silence = contactText(status);
  const what = nameOfPartInFlight(result);
  if (silence !== null)
    return waiting === null ? silence : `${silence}; before: ${waitingSentence(waiting, what, STILL)}`;
  if (waiting === null) return what === null ? (result.phase ?? 'starting') : `${what}: in progress`;
  const sentence = waitingSentence(waiting, what, countdown ? COUNTDOWN : STILL);
  return eta === null ? sentence : `${sentence}; ${etaText(eta, Date.now(), countdown)}`;
}

/** Without the countdown, which would make each second a new line. */
const STILL: Style = { ...COUNTDOWN, when: null };

/** True if no worker has started the run or rollout yet, but one may still do so in the usual time. */
export const isStarting = ({ contact, result }: Pick<RunStatus, 'contact'> & { result: Started }): boolean =>
  contact === 'not_begun' && Date.now() - Date.parse(result.startedAt ?? '') < TIMING.cli.beginsWithinMs;

type Started = Pick<RunStatus['result'], 'startedAt'>;

const SILENCE: Record<Exclude<Contact, 'answers' | 'closed'>, (what: string) => string> = {
  not_begun: (what) => `no worker has started the ${what} yet`,
  silent: (what) => `no worker answers for the ${what}: it continues when a worker is available again`,
  unserved: (what) => `only workers of another build may continue the ${what}, and none of them is running`,
  stuck: (what) => `a worker keeps failing at the ${what}, which is a defect: see the worker's log`,
};

/** Why the run or rollout itself does not answer; null if it does. */
export function contactText(
  { contact, version }: Pick<RunStatus, 'contact' | 'version'>,
  what: 'run' | 'rollout' = 'run',
): string | null {
  if (contact === 'answers' || contact === 'closed') return null;
  if (version === undefined) return SILENCE[contact](what);
  const remedy = `start one, or move its runs to the current build: \`${moveRuns(version)}\``;
  return `only workers of build ${versionText(version)} may continue the ${what}, and none of them is running: ${remedy}`;
}

/* Looks again and again, and shows what it sees. */

const LOST = 'Temporal does not answer: still trying';

/** Where a command shows what it follows: live lines on a terminal, else a log. */
interface Display {
  /** Null for a log. */
  terminal: LiveLines | null;
  /** @param news what makes the line worth printing. Default: the line itself */
  printIfNews: (line: string, news?: string | null) => void;
}

/** Shows what each look finds. A look that fails does not end the wait, and shows at most that Temporal is away. */
export function followOn<T>(
  stream: NodeJS.WriteStream,
  look: () => Promise<T>,
  show: (seen: T, display: Display) => void,
): Following {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  const isNews = createNewsFilter();
  const printIfNews = (line: string, news: string | null = line) => void (isNews(news) && printTo(stream, line));
  const following = follow(
    () =>
      look().then(
        (seen) => ({ seen }),
        (error: unknown) => ({ error }),
      ),
    (found) => {
      if ('seen' in found) return show(found.seen, { terminal, printIfNews });
      if (!(found.error instanceof BelayError) || found.error.type !== 'TemporalUnreachable') return;
      // What was shown last may no longer be true.
      if (terminal === null) printIfNews(LOST);
      else terminal.draw([LOST]);
    },
    terminal === null ? TIMING.cli.logPeriodMs : TIMING.cli.terminalPeriodMs,
  );
  return {
    stop() {
      following.stop();
      terminal?.clear();
    },
  };
}

interface Following {
  stop(): void;
}

/** @param look must not fail. The next one begins a while after the last has ended. */
export function follow<T>(look: () => Promise<T>, show: (seen: T) => void, pauseMs: number): Following {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function update(): Promise<void> {
    const seen = await look();
    if (stopped) return;
    show(seen);
    timer = setTimeout(() => void update(), pauseMs);
  }

  void update();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** Whether to print a line into a log: if it is news, or was printed long ago. CI ends jobs that print nothing for long. */
export function createNewsFilter(nowMs: () => number = () => performance.now()): (news: string | null) => boolean {
  let last: { news: string | null; atMs: number } | null = null;
  return (news) => {
    if (last !== null && news === last.news && nowMs() - last.atMs < TIMING.cli.repeatMs) return false;
    last = { news, atMs: nowMs() };
    return true;
  };
}
