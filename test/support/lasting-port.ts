import { randomInt } from 'node:crypto';
import { choosePort } from '../../src/dev/ports.ts';

/** A port below the range that the system assigns, so no other process takes it while its server is down. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = await choosePort('', randomInt(20_000, 32_000)).catch(() => null);
    if (port !== null) return port;
  }
}
