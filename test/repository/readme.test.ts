/** What the README says about the command line. `npm run test:package` runs its commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../src/contract/errors.ts';
import { runInProcess } from '../support/in-process.ts';
import { README, ROOT } from '../support/readme.ts';

test('the table of the README has every exit code', () => {
  const codes = [...README.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(([, cell = '']) => cell.split(', ').map(Number));
  assert.deepEqual(codes, Object.values(EXIT));
});

test('every option and file that the README names exists', async () => {
  const names = ['run', 'watch', 'status', 'list', 'doctor', 'demo'];
  const helps = await Promise.all(names.map(async (name) => (await runInProcess([name, '--help'])).stdout));
  for (const [option] of README.matchAll(/--[a-z]+(-[a-z]+)*/g)) {
    assert.ok(option === '--no' || helps.some((help) => help.includes(option)), option);
  }
  for (const [, target = ''] of README.matchAll(/\]\(([^):]+)\)/g)) {
    assert.ok(existsSync(fileURLToPath(new URL(target, ROOT))), target);
  }
});

test('`npm run demo` without a build names the command that makes one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-no-build-'));
  await copyFile(new URL('package.json', ROOT), join(folder, 'package.json'));
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'demo'], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([status, stderr], [2, 'npm run demo needs the build in dist: run npm ci first\n']);
  await rm(folder, { recursive: true });
});
