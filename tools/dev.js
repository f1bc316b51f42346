/**
 * `npm run dev`: the whole stack from source, restarted on save. One Ctrl-C reaches a program that npm starts twice,
 * from the terminal and from npm, and `tsx watch` kills what it runs at the second. So it gets a process group of its
 * own here, and one signal.
 */
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ONE_PRESS_MS = 1_000;

const tsx = fileURLToPath(import.meta.resolve('tsx/cli'));
// Workflows are bundled, not imported, so the watcher does not find them by itself.
const watched = ['--include', 'src/**/*.ts', '--include', 'belay.yaml'];
const args = [tsx, 'watch', '--clear-screen=false', ...watched, 'src/cli.ts', 'dev', ...process.argv.slice(2)];
const watcher = spawn(process.execPath, args, {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: ['ignore', 'inherit', 'inherit'],
  detached: true,
});

let firstMs = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (firstMs === null) watcher.kill('SIGTERM');
    else if (performance.now() - firstMs > ONE_PRESS_MS) process.kill(-watcher.pid, 'SIGKILL');
    firstMs ??= performance.now();
  });
}

watcher.once('exit', (code) => process.exit(code ?? 1));
