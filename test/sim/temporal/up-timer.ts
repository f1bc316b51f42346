/** Timers of the server: while it is down, none fires. */
import type { Clock } from '../clock.ts';

/** Acts later, and not before the server is up. @returns what cancels it */
export type UpTimer = (ms: number, act: () => void) => () => void;

const LOOK_AGAIN_MS = 100;

export function createUpTimer(clock: Clock, isUp: () => boolean): UpTimer {
  return (ms, act) => {
    let stop = clock.after(ms, function due() {
      if (isUp()) act();
      else stop = clock.after(LOOK_AGAIN_MS, due);
    });
    return () => stop();
  };
}
