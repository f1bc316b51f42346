import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { atEnd } from '../support/at-end.ts';

/** Stops a server when everything ends, and does not leave it behind if this process exits before. */
export function stopAtEnd(
  server: ChildProcess,
  { signal, lastSignal, limitMs }: { signal: NodeJS.Signals; lastSignal: NodeJS.Signals; limitMs: number },
): void {
  const ended = once(server, 'close');
  const kill = () => server.kill(lastSignal);
  process.once('exit', kill);
  server.once('close', () => process.off('exit', kill));
  atEnd(async () => {
    server.kill(signal);
    const late = setTimeout(() => server.kill(lastSignal), limitMs);
    await ended.finally(() => clearTimeout(late));
  });
}
