import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { atEnd } from '../support/at-end.ts';

/** What kills the servers that still run. */
const kills = new Set<() => void>();
process.once('exit', () => kills.forEach((kill) => kill()));

/** Stops a server when everything ends, and does not leave it behind if this process exits before. */
export function stopAtEnd(
  server: ChildProcess,
  { signal, lastSignal, limitMs }: { signal: NodeJS.Signals; lastSignal: NodeJS.Signals; limitMs: number },
): void {
  const ended = once(server, 'close');
  const kill = () => void server.kill(lastSignal);
  kills.add(kill);
  server.once('close', () => kills.delete(kill));
  atEnd(async () => {
    server.kill(signal);
    const late = setTimeout(kill, limitMs);
    await ended.finally(() => clearTimeout(late));
  });
}
