/**
 * `node tools/test-on-node.js 24 [script]`: runs a script of package.json, `test` by default, on another Node. Its
 * binary comes from the npm registry (package `node`) and is kept below node_modules/.cache.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const [version, script = 'test', ...args] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write(
    'usage: node tools/test-on-node.js <version> [script], for example: node tools/test-on-node.js 24 test:all\n',
  );
  process.exit(2);
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules/.cache/belay', `node-${version}`);
const bin = join(folder, 'node_modules/node/bin');

if (!existsSync(join(bin, 'node'))) {
  mkdirSync(folder, { recursive: true });
  // The package fetches the binary for this platform in a script of its own.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
  run('npm', ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `node@${version}`], {
    cwd: folder,
  });
}

const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
run('node', ['--version'], { cwd: root, env });
run('npm', ['run', '--silent', script, '--', ...args], { cwd: root, env });

function run(program, programArgs, options) {
  const { status } = spawnSync(program, programArgs, { stdio: 'inherit', ...options });
  if (status !== 0) process.exit(status ?? 1);
}
