#!/usr/bin/env node
/** Program `belay`: the command line. Signals are handled at once, because the commands take a moment to load. */
import { startedByNpm } from './config/environment/environment.ts';
import { installSignalHandlers } from './process/signals.ts';

/** npm and npx exit on SIGTERM without forwarding it, so this process stops when its parent has gone. */
function endWithNpm(): void {
  const { ppid } = process;
  const checkParent = () => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  };
  const timer = setInterval(checkParent, 250).unref();
}

installSignalHandlers();
if (startedByNpm()) endWithNpm();
await (await import('./cli/program.ts')).main();
