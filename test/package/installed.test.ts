import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CommandLine } from '../support/command-line.ts';
import { codeBlocks, ROOT } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';
import { devStack } from './stack.ts';

const run = promisify(execFile);

let on: CommandLine;
/** A project with only the package and the types of Node. */
let project: string;
before(async () => {
  on = await devStack();
  project = await tempFolder();
  // A second build would replace files under tests that run at the same time.
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  await run('npm', pack, { cwd: fileURLToPath(ROOT) });
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(project, 'package.json'), '{ "name": "release", "private": true, "type": "module" }');
  const { devDependencies } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const types = `@types/node@${devDependencies['@types/node']}`;
  // Every dependency has to support this Node, as it does for those whose npm is strict about it.
  const install = ['install', '--engine-strict', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', [...install, `./${tarball}`, types], { cwd: project });
});

test("the README's program compiles strictly with the installed package, runs and loads no worker", async () => {
  const [program = ''] = codeBlocks('ts');
  const atEnd = [
    "import { createRequire } from 'node:module';",
    "process.on('exit', () => console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache))));",
  ];
  writeFileSync(join(project, 'release.ts'), `${program}\n${atEnd.join('\n')}\n`);
  // The compiler is the one that the project would install, and has its own libraries checked elsewhere.
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--skipDefaultLibCheck'];
  const compiler = fileURLToPath(new URL('node_modules/.bin/tsc', ROOT));
  await run(compiler, [...strict, 'release.ts'], { cwd: project }).catch((error) =>
    assert.fail((error as { stdout: string }).stdout),
  );
  const env = { PATH: process.env.PATH, ...on.env };
  const { stdout, stderr } = await run(process.execPath, ['release.js'], { cwd: project, env });
  assert.equal(stderr, '');
  const [said, loaded = '[]'] = stdout.trim().split('\n');
  assert.match(said ?? '', /^completed (transition|changed)$/);
  const modules = JSON.parse(loaded) as string[];
  assert.ok(modules.some((name) => name.includes('@temporalio/client')));
  assert.deepEqual(
    modules.filter((name) => /@temporalio\/(worker|core-bridge|testing)|fastify|pino/.test(name)),
    [],
  );
});

test('the command line of the installed package works', async () => {
  const env = { PATH: process.env.PATH, ...on.env };
  const { stdout } = await run(join(project, 'node_modules/.bin/belay'), ['list', '--json'], { cwd: project, env });
  assert.ok(Array.isArray((JSON.parse(stdout) as { runs: unknown }).runs));
});
