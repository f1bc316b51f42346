import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { EXIT } from '../../../src/cli/output/exit-codes.ts';
import { startCommandLine, type CommandLine } from '../../support/command-line.ts';
import { CLI, start } from '../../support/processes.ts';
import { codeBlocks, README, ROOT } from '../../support/readme.ts';
import { tempFolder } from '../../support/temporal.ts';
import { SECRET } from '../../support/receiver.ts';
import { TOKEN } from '../../support/world.ts';

let on: CommandLine;
/** Where `npx` is the program that was built. */
let bin: string;
before(async () => {
  on = await startCommandLine({ defaults: { backup: { durationMs: 500 }, deployment: { durationMs: 2_000 } } });
  // Its commands have the default intervals, which nobody waits out where the service tells of its ends.
  on.sandbox.subscribe({ url: `${on.dev.ready.webhooks}/webhooks/service`, secret: SECRET });
  bin = await tempFolder();
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift 2\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  chmodSync(join(bin, 'npx'), 0o755);
});

/** What a shell step of CI does. */
async function shell(script: string, env: Record<string, string> = {}) {
  const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
    cwd: bin,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: process.env.HOME, ...on.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

describe('the README', { concurrency: 6 }, () => {
  test('its commands work as they stand there', async () => {
    const commands = codeBlocks('sh').flatMap((block) => block.match(/^npx --no belay .*$/gm) ?? []);
    assert.equal(commands.length, 3);
    await Promise.all(
      commands.map(async (command) => {
        const { code, output } = await shell(command);
        assert.equal(code, 0, `${command}\n${output}`);
      }),
    );
  });

  test('its CI steps work as they stand there, and write the job summary', async () => {
    const steps = codeBlocks('yaml').flatMap((block) => parse(block) as { name: string; run: string }[]);
    assert.equal(steps.length, 2);
    const env = { GITHUB_RUN_ID: '4711', GITHUB_STEP_SUMMARY: join(bin, 'summary') };
    for (const { name, run } of steps) {
      const { code, output } = await shell(run, env);
      assert.equal(code, 0, `${name}\n${output}`);
    }
    assert.match(readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'), /^completed in \d+ s\n/);
  });

  test('doctor finds all well where dev runs', async () => {
    const { code, output } = await shell('npx --no belay doctor', {
      BELAY_API_URL: on.sandbox.url,
      BELAY_API_TOKEN: TOKEN,
    });
    assert.equal(code, 0, output);
  });

  test('the demo prints what it says', async () => {
    const block = codeBlocks('').find((text) => text.startsWith('Starting a Temporal server')) ?? '';
    const { stdout, stderr } = await start(['demo'], { BELAY_HOME: await tempFolder() }).finished;
    const printed = new Set((stdout + stderr).split('\n').map(withoutFigures));
    const [progress, fixed] = [true, false].map((is) =>
      block
        .trim()
        .split('\n')
        .filter((it) => PROGRESS.test(it) === is),
    );
    for (const line of fixed ?? []) {
      assert.ok(printed.has(withoutFigures(line)), `not printed: ${line}\n${stderr}${stdout}`);
    }
    // What is seen of a run on the way depends on the moment.
    assert.ok(
      progress?.some((line) => printed.has(withoutFigures(line))),
      stderr,
    );
  });

  test('its table has every exit code', () => {
    const codes = [...README.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(([, cell = '']) => cell.split(', ').map(Number));
    assert.deepEqual(codes, Object.values(EXIT));
  });

  test('every option it names is there, and every file', async () => {
    const names = ['run', 'watch', 'list', 'doctor', 'demo'];
    const helps = await Promise.all(names.map(async (name) => (await on.belay(name, '--help')).stdout));
    for (const [option] of README.matchAll(/--[a-z]+(-[a-z]+)*/g)) {
      assert.ok(option === '--no' || helps.some((help) => help.includes(option)), option);
    }
    for (const [, target = ''] of README.matchAll(/\]\(([^):]+)\)/g)) {
      assert.ok(existsSync(fileURLToPath(new URL(target, ROOT))), target);
    }
  });

  test('every file that the architecture names is there', () => {
    const text = readFileSync(new URL('docs/architecture.md', ROOT), 'utf8');
    const files = [...text.matchAll(/`((?:src|test|tools|deploy)\/[\w./-]*)`/g)].map(([, file = '']) => file);
    assert.ok(files.length > 30);
    assert.deepEqual(
      files.filter((file) => !existsSync(new URL(file, ROOT))),
      [],
    );
  });
});

const PROGRESS = /^(backup|deployment) of /;

/** Ids, ports, times and words that differ from run to run. */
function withoutFigures(line: string): string {
  return line
    .replace(/workflows\/.*$/, 'workflows/…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID')
    .replace(/last "\w+"/, 'last ""')
    .replace(/\d+ (of|s|polls)\b/g, 'N $1')
    .replace(/:\d{4,5}\//, ':PORT/');
}
