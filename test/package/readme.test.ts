import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { CommandLine } from '../support/command-line.ts';
import { CLI } from '../support/processes.ts';
import { eventually } from '../support/eventually.ts';
import { codeBlocks } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';
import { SECRET } from '../support/receiver.ts';
import { TOKEN } from '../support/world.ts';
import { devStack } from './stack.ts';

let on: CommandLine;
/** A folder in which `npx` runs the built program. */
let bin: string;
before(async () => {
  on = await devStack();
  // The commands use the default intervals, so webhooks end their waits early.
  on.sandbox.subscribe({ url: `${on.dev.ready.webhooks}/webhooks/service`, secret: SECRET });
  bin = await tempFolder();
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nwhile [ "$1" != belay-deploy ]; do shift; done\nshift\nexec "${process.execPath}" "${CLI}" "$@"\n`,
  );
  chmodSync(join(bin, 'npx'), 0o755);
});

/** Runs a script like a shell step of CI. */
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
  test('the commands work as written', async () => {
    const commands = codeBlocks('sh').flatMap((block) => block.match(/^npx belay-deploy .*$/gm) ?? []);
    assert.equal(commands.length, 3);
    await Promise.all(
      commands.map(async (command) => {
        const { code, output } = await shell(command);
        assert.equal(code, 0, `${command}\n${output}`);
      }),
    );
  });

  test('the CI steps work as written and write the job summary', async () => {
    const steps = codeBlocks('yaml').flatMap((block) => parse(block) as { name: string; run: string }[]);
    assert.equal(steps.length, 2);
    const env = { GITHUB_RUN_ID: '4711', GITHUB_STEP_SUMMARY: join(bin, 'summary') };
    for (const { name, run } of steps) {
      const { code, output } = await shell(run, env);
      assert.equal(code, 0, `${name}\n${output}`);
    }
    assert.match(
      readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8'),
      /^### Belay: `backup-then-deploy:12:4711-deploy`\n\n\*\*`completed`/,
    );
  });

  test('doctor finds no problem while dev runs', async () => {
    const env = { BELAY_API_URL: on.sandbox.url, BELAY_API_TOKEN: TOKEN };
    // On a busy machine, a worker may take longer for its answer than the doctor waits, as the doctor then says.
    await eventually('a doctor without a complaint', async () => {
      const { code, output } = await shell('npx belay-deploy doctor', env);
      if (code === 0) return true;
      assert.match(output, /no worker answers for/);
      return false;
    });
  });
});
