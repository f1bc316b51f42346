/** The recipe of a policy: its blocks of code are applied to a copy of the source, and what comes of them is checked and played. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ESLint, type Linter } from 'eslint';
import { parser } from 'typescript-eslint';
import { tempFolder } from '../support/temporal.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/contributing/add-a-policy.md'), 'utf8');
/** What the source, its types and the tests of rules need. */
const COPIED = ['src', 'test', 'tools', 'bench', 'package.json', 'package-lock.json', 'tsconfig.json'];
const MOST_FILES = 8;
const FEATURE = /quiet-hours/;

interface Block {
  path: string;
  language: string;
  text: string;
}

/** The name of a file in a line of its own, and then what is in it, or what changes in it. */
const BLOCKS: readonly Block[] = [...PAGE.matchAll(/^`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```$/gms)].map(
  ([, path = '', language = '', text = '']) => ({ path, language, text }),
);
const written = BLOCKS.filter(({ language }) => language !== 'diff');
const changed = BLOCKS.filter(({ language }) => language === 'diff');

/** @param diff hunks without line numbers, separated by `@@` */
function patched(path: string, text: string, diff: string): string {
  return diff.split(/^@@\n/m).reduce((before, hunk) => {
    const lines = hunk.match(/^.*\n/gm) ?? [];
    const without = (sign: string) => lines.flatMap((it) => (it.startsWith(sign) ? [] : it.slice(1))).join('');
    const [head, ...tail] = before.split(without('+'));
    assert.equal(tail.length, 1, `${path} has these lines once:\n${without('+')}`);
    return [head, without('-'), ...tail].join('');
  }, text);
}

let folder: string;
const run = promisify(execFile);

/** @throws Error with what it printed, if it fails */
async function execute(...args: string[]): Promise<string> {
  const environment = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return run(process.execPath, args, { cwd: folder, env: environment, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}\n${stderr}`),
  );
}

describe('the recipe of a policy', () => {
  before(async () => {
    folder = await tempFolder();
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const { path, text } of written) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    for (const { path, text } of changed) {
      const before = readFileSync(join(folder, path), 'utf8');
      writeFileSync(join(folder, path), patched(path, before, text));
    }
  });

  test('needs few files of its own, and in the core only lines of lists', () => {
    const own = written.filter(({ path }) => FEATURE.test(path));
    assert.deepEqual(
      written.filter((it) => !own.includes(it)).map(({ path }) => path),
      ['belay.yaml'],
    );
    assert.ok(own.length <= MOST_FILES, `${own.length}`);
    for (const { path, text } of changed) {
      const lines = text.split('\n').filter((it) => /^[+-]/.test(it) && !/^\+import /.test(it));
      const added = lines.filter((it) => it.startsWith('+'));
      for (const line of added) assert.match(line, /quiet/i, path);
      // What a line takes away, it has again.
      assert.ok(lines.length - added.length <= added.length, path);
    }
  });

  test('passes the check of types', async () => {
    await execute('node_modules/typescript/bin/tsc', '--noEmit');
  });

  test('keeps the layers', async () => {
    const { layers } = (await import(join(folder, 'tools/boundaries.js'))) as { layers: Linter.Config };
    const settings = { settings: { 'boundaries/root-path': folder } };
    const overrideConfig: Linter.Config[] = [{ files: ['**/*.ts'], languageOptions: { parser } }, layers, settings];
    const eslint = new ESLint({ cwd: folder, overrideConfigFile: true, overrideConfig });
    const files = BLOCKS.map(({ path }) => path).filter((path) => path.startsWith('src/'));
    const found = (await eslint.lintFiles(files)).flatMap(({ messages }) => messages);
    assert.deepEqual(
      found.flatMap(({ ruleId, message }) => (ruleId?.startsWith('boundaries/') === true ? [message] : [])),
      [],
    );
  });

  test('gives belay.yaml a section', async () => {
    assert.match(
      await execute('--import', './tools/typescript.js', 'src/cli.ts', 'config', 'check', 'belay.yaml'),
      /is valid/,
    );
  });

  test('plays in virtual time, and joins the lists of features in their order', async () => {
    await execute(
      ...['--import', './tools/typescript.js', '--test'],
      ...['test/sim/rules/runs/quiet-hours.test.ts', 'test/unit/features.test.ts'],
    );
  });
});
