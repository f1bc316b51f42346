#!/usr/bin/env node
/** Program `belay`: the command line. The commands take a moment to load; what ends a process is heard before. */
import { startedByNpm } from './config/environment/environment.ts';
import { installInterruption } from './process/signals.ts';

/** npm and npx end at SIGTERM without passing it on: what they started then has to notice by itself. */
function endWithNpm(): void {
  const { ppid } = process;
  const look = () => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  };
  const timer = setInterval(look, 250).unref();
}

installInterruption();
if (startedByNpm()) endWithNpm();
await (await import('./cli/program.ts')).main();
