/**
 * Runs the Temporal server for Belay in a process of its own, with the server's command line as its arguments. It stops
 * the server when Belay ends, even if Belay is killed.
 */
import { spawn } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('the guard needs the server program as its first argument');

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

// Belay is gone, so a graceful stop helps no client, and the port may be needed again at once.
process.once('disconnect', () => server.kill('SIGKILL'));
process.on('SIGTERM', () => server.kill('SIGTERM'));
process.on('SIGINT', () => server.kill('SIGTERM'));
