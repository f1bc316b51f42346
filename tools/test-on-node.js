/** `node tools/test-on-node.js 24 [script]`: runs a script of package.json, `test` by default, on another Node. */
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import './typescript.js';

const [version, script = 'test', ...args] = process.argv.slice(2);
if (version === undefined || !/^\d+(\.\d+){0,2}$/.test(version)) {
  process.stderr.write(
    'usage: node tools/test-on-node.js <version> [script], for example: node tools/test-on-node.js 24 test:all\n',
  );
  process.exit(2);
}

const { nodeBinary } = await import('./node-binary.ts');
const env = { ...process.env, PATH: `${nodeBinary(version)}${delimiter}${process.env.PATH}` };
run('node', ['--version']);
run('npm', ['run', '--silent', script, '--', ...args]);

function run(program, programArgs) {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const { status } = spawnSync(program, programArgs, { stdio: 'inherit', cwd, env });
  if (status !== 0) process.exit(status ?? 1);
}
