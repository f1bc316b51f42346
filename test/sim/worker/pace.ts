/**
 * The real pacer of a worker in virtual time, and a check of it. S10: a worker sends nothing while the service has asked
 * it to wait, and no more than its share of the ceiling.
 */
import { TIMING } from '../../../src/contract/timing.ts';
import { createPacer, type Pacer } from '../../../src/hosting-api/index.ts';
import type { RawAnswer, Send } from '../../../src/hosting-api/exchange.ts';
import type { Passage } from '../../../src/hosting-api/pacer.ts';
import type { Clock } from '../clock.ts';
import type { Tape } from '../tape.ts';
import type { Process } from './process.ts';

export interface Pace {
  pacer: Pacer;
  passage: Passage;
  /** Checks what leaves. */
  checked(send: Send): Send;
}

interface PaceParts {
  clock: Clock;
  tape: Tape;
  process: Process;
  onFinding: (finding: string) => void;
}

/** A trigger that its baseline read has used the turn of borrows the next one. */
const SPARE_REQUESTS = 1;

export function createPace({ clock, tape, process, onFinding }: PaceParts): Pace {
  const nowMs = () => clock.nowMs;
  const real = createPacer(TIMING.pace, nowMs, () => tape.choose('spread', 1_000) / 1_000);
  let pausedUntilMs = -Infinity;
  let sent: { atMs: number; isTrigger: boolean }[] = [];
  let share: number | null = null;
  let stops = 0;
  /** Have their turn, and have not left. */
  let granted = 0;
  /** Had their turn when the share changed or the process was stopped. */
  let grantedBefore = 0;

  function checkLeaving(isTrigger: boolean): void {
    const atMs = clock.nowMs;
    granted = Math.max(0, granted - 1);
    if (atMs < pausedUntilMs) onFinding(`S10: a request left ${pausedUntilMs - atMs} ms before the end of a pause`);
    // What waited for its turn while the process was stopped leaves together.
    if (stops !== process.stops) [stops, sent, grantedBefore] = [process.stops, [], granted];
    sent.push({ atMs, isTrigger });
    if (share === null) return;
    const triggers = sent.filter((it) => it.isTrigger).length;
    const allowed = 1 + SPARE_REQUESTS + grantedBefore + triggers + ((atMs - sent[0]!.atMs) * share) / 1_000;
    if (sent.length > allowed) onFinding(`S10: ${sent.length} requests left, and ${Math.floor(allowed)} were allowed`);
  }

  return {
    pacer: {
      ...real,
      get isPaused() {
        return real.isPaused;
      },
      setShare(perSecond) {
        [share, sent, grantedBefore] = [perSecond, [], granted];
        real.setShare(perSecond);
      },
      turn(request, maxWaitMs) {
        const turn = real.turn(request, maxWaitMs);
        if (turn.granted) granted += 1;
        return turn;
      },
    },
    passage: {
      nowMs,
      async sleep(ms) {
        const ended = process.whenEnded.then(() => Promise.reject(new Error('the process has ended')));
        await Promise.race([process.sleep(ms), ended]);
      },
    },
    checked: (send) => async (options, call, token) => {
      checkLeaving(call.method === 'POST');
      const answer = await send(options, call, token);
      pausedUntilMs = Math.max(pausedUntilMs, clock.nowMs + pauseMs(answer));
      return answer;
    },
  };
}

/** How long an answer asks its caller to wait. The scenarios draw seconds and rubbish, and no dates. */
function pauseMs({ status, headers }: RawAnswer): number {
  const seconds = /^\d+$/.exec(String(headers['retry-after']))?.[0];
  if (status !== 429 && !(status === 503 && seconds !== undefined)) return 0;
  const { defaultPauseMs, maxPauseMs } = TIMING.pace;
  return Math.min(seconds === undefined ? defaultPauseMs : Number(seconds) * 1_000, maxPauseMs);
}
