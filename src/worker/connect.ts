/** A worker's connection to Temporal, which often starts at the same moment. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection } from '@temporalio/worker';
import { BelayError } from '../contract/results/belay-error.ts';
import type { TemporalPlace } from '../config/temporal/find-temporal.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import type { Logger } from '../process/log.ts';

const PATIENCE_MS = 60_000;
const PAUSE_MS = 2_000;

/** @throws BelayError `TemporalUnreachable` after a minute */
export async function connectWhenThere(
  { connectionOptions }: Pick<TemporalPlace, 'connectionOptions'>,
  log: Logger,
): Promise<NativeConnection> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await NativeConnection.connect(connectionOptions);
    } catch (error) {
      const problem = `Temporal at ${connectionOptions.address} does not answer: ${whyUnreachable(error)}`;
      if (Date.now() >= deadlineMs) {
        throw new BelayError('TemporalUnreachable', `${problem}. Start it, or set TEMPORAL_ADDRESS to where it is`);
      }
      log.warn(`${problem}; trying again`);
      await sleep(PAUSE_MS);
    }
  }
}

/** What the SDK says of a connection it couldn't make, for people. */
export function whyUnreachable(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return said.includes('ConnectionRefused') ? 'nobody listens there' : plainText(said);
}
