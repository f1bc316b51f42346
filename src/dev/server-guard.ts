/**
 * Stands between Belay and the Temporal server it started: the server ends with its guard, and the guard when Belay
 * does, however that ends. Started as a process of its own with the server's command line as its arguments.
 */
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('the guard needs the program to start');

const server = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });

server.once('error', (error) => {
  process.send?.({ failed: error.message });
  process.exitCode = 1;
});
server.once('spawn', () => process.send?.({ pid: server.pid }));
server.once('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 0 : 1);
  if (process.connected) process.disconnect();
});

// Belay is gone: nobody is left whom a graceful end would serve, and its port may be wanted again at once.
process.once('disconnect', () => server.kill('SIGKILL'));
process.on('SIGTERM', () => server.kill('SIGTERM'));
process.on('SIGINT', () => server.kill('SIGTERM'));
