/** From the words of belay.yaml to a run's input. Pure. */
import type { RunOptionsConfig } from '../config/file/fleet-schema.ts';
import type { RunOptions } from '../contract/rollout.ts';
import { given } from '../contract/plain-object.ts';

export function runOptionsOf({ backup, deploy, ifBusy, busyTimeout, keepGoing }: RunOptionsConfig): RunOptions {
  return given({
    backup: backup && given({ intervalMs: backup.interval, tries: backup.tries, maxAgeMs: backup.maxAge }),
    deploy:
      deploy &&
      given({
        intervalMs: deploy.interval,
        tries: deploy.tries,
        settleMs: deploy.settle,
        minEvidence: deploy.minEvidence,
        baselineWaitMs: deploy.baselineWait,
        onAmbiguous: deploy.onAmbiguous,
      }),
    ifBusy,
    busyTimeoutMs: busyTimeout,
    keepGoing,
  });
}
