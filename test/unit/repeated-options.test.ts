import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';
import { RepeatableOption } from '../../src/cli/options.ts';
import { runInProcess } from '../support/in-process.ts';

/** Every command with its own name and options. */
function commandsOf(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  return [{ path, command }, ...command.commands.flatMap((it) => commandsOf(it, [...path, it.name()]))];
}

/** A value that the option takes. */
function valueOf(flags: string, choices: readonly string[] | undefined): string {
  if (choices !== undefined) return choices[0]!;
  if (flags.includes('--run-id')) return '0d5a4d0c-7b0e-4c0e-9d53-6a3b1b9f8a11';
  if (flags.includes('<duration>')) return '1h';
  if (flags.includes('<n>') || flags.includes('<port>')) return '7';
  if (flags.includes('<time>')) return '2100-01-01T00:00Z';
  if (flags.includes('<sha>') || flags.includes('<hash>')) return '3f2c1ab000001111';
  return flags.includes('<file>') ? '/dev/null' : 'x';
}

const REPEATABLE = [
  ...['advice --app', 'advice --server', 'advice --site'],
  ...['backup --meta', 'backup --override-freeze', 'board --trusted-proxy'],
  ...['deploy --app', 'deploy --approval', 'deploy --meta', 'deploy --override-freeze', 'deploy --site'],
  ...['freeze --app', 'freeze --fleet', 'freeze --server', 'freeze --site', 'freezes --app', 'freezes --site'],
  ...['list --app', 'list --outcome', 'list --server', 'list --site'],
  ...['rollout resume --server', 'rollout start --approval', 'rollout start --meta', 'rollout start --override-freeze'],
  ...['run --app', 'run --approval', 'run --meta', 'run --override-freeze', 'run --site'],
  ...['thaw --app', 'thaw --fleet', 'thaw --server', 'thaw --site', 'top --app', 'top --site'],
  // It then says that only one can be followed.
  ...['watch --app', 'watch --meta', 'watch --site'],
];

describe('an option that another option follows instead of its value', () => {
  for (const args of [
    ['deploy', '--site', 'dr1', '--key', '--dry-run'],
    ['deploy', '--site', '--json'],
    ['run', '--server', '--site', '--site', '34'],
    ['run', '--server', '-s', '34'],
    ['backup', '--server', '--help'],
    ['backup', '--server', '--'],
  ])
    test(`is refused: ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runInProcess(args);
      assert.equal(code, 2);
      assert.match(stdout + stderr, /(--\w+) has no value, because \S+ follows: if that is its value, write \1=-/);
    });

  test('takes it as its value after an equals sign', async () => {
    const { stderr } = await runInProcess(['freezes', '--site=--json', '--at', 'never']);
    assert.match(stderr, /--at/);
  });
});

describe('an option that is given twice', () => {
  const all = commandsOf(program()).flatMap(({ path, command }) => command.options.map((option) => ({ path, option })));

  test('collects both values where the option is one of these', () => {
    const found = all.filter(({ option }) => option instanceof RepeatableOption);
    assert.deepEqual(found.map(({ path, option }) => `${path.join(' ')} ${option.long}`).sort(), REPEATABLE);
  });

  test('is refused everywhere else, with exit code 2', async () => {
    const single = all.filter(({ option }) => !(option instanceof RepeatableOption) && option.long !== '--version');
    for (const { path, option } of single) {
      const { long, flags, argChoices } = option;
      const value = flags.includes('<') ? [`${long}=${valueOf(flags, argChoices)}`] : [long!];
      const { code, stdout, stderr } = await runInProcess([...path, ...value, ...value]);
      const said = `${path.join(' ')} ${long}: ${stdout}${stderr}`;
      assert.equal(code, 2, said);
      assert.ok(
        `${stdout}${stderr}`.includes(
          `${long} is given twice: give it once. See \`${said.includes('--json') ? 'belay' : 'npx belay-deploy'} `,
        ),
        said,
      );
    }
  });

  test('is one JSON document of type Usage with --json', async () => {
    const { code, json } = await runInProcess(['backup', '--server', 's1', '--server', 's2', '--json']);
    assert.deepEqual([code, json().error?.type], [2, 'Usage']);
    assert.match(json().error?.message ?? '', /^--server is given twice: give it once\./);
  });

  test('with the same value is refused where it collects values', async () => {
    for (const args of [
      ['freeze', '--server', 's1', '--server', 's1', '--for', '1h', '--reason', 'x'],
      ['list', '--outcome', 'failed', '--outcome', 'failed'],
      ['run', '--server', 's1', '--site', 'a1', '--approval', 'boss', '--approval', 'boss'],
    ]) {
      const { code, stderr } = await runInProcess(args);
      assert.deepEqual([code, / is given twice\. Give it once\./.test(stderr)], [2, true], stderr);
    }
  });
});
