/** The stack of the tests of the README and of the package. Its deployments last long enough to be seen in progress. */
import { startCommandLine, type CommandLine } from '../support/command-line.ts';

let started: Promise<CommandLine> | undefined;

export function devStack(): Promise<CommandLine> {
  const defaults = { backup: { durationMs: 500 }, deployment: { durationMs: 2_000 } };
  return (started ??= startCommandLine({ defaults }));
}
