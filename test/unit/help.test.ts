/** The help of the command line: what a newcomer sees first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';
import { VARIABLES } from '../../src/config/environment/variables.ts';
import { runInProcess } from '../support/in-process.ts';

const withSubcommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubcommands)];

const headingsIn = (help: string) => [...help.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);

test('belay --help shows every command in its group, on at most 60 lines of 80 columns', async () => {
  const { code, stdout } = await runInProcess(['--help']);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split('\n');
  assert.ok(lines.length <= 60, `${lines.length} lines`);
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  );
  assert.deepEqual(headingsIn(stdout), ['Options', 'Run', 'Look', 'Fleets', 'Policy', 'Programs', 'Set up']);
  const belay = program();
  for (const command of belay.createHelp().visibleCommands(belay)) {
    assert.match(stdout, new RegExp(`^  ${command.name()} +\\S`, 'm'));
  }
  assert.match(stdout, /belay help environment/);
});

test('belay help environment lists every environment variable, and belay --help none', async () => {
  const [topic, help] = [await runInProcess(['help', 'environment']), await runInProcess(['--help'])];
  assert.equal(topic.code, 0);
  for (const { name } of VARIABLES) {
    assert.ok(topic.stdout.includes(`  ${name} `), name);
    assert.ok(!help.stdout.includes(name), name);
  }
});

test('belay run --help shows what to do, then what CI needs, and leaves no option without a group', async () => {
  const { stdout } = await runInProcess(['run', '--help']);
  assert.deepEqual(headingsIn(stdout), [
    ...['What to do', 'In CI', 'What may hold it back', 'Deadlines', 'Reading the status', 'Options', 'Examples'],
  ]);
  assert.match(stdout, /^Options:\n {2}-h, --help .*\n\n/m);
});

test('a short form means the same option everywhere, and no command has it twice', () => {
  const meanings = new Map<string, Set<string>>();
  for (const command of withSubcommands(program())) {
    const shorts = command.options.flatMap(({ short }) => short ?? []);
    assert.equal(new Set([...shorts, '-h']).size, shorts.length + 1, command.name());
    for (const { short, long = '' } of command.options) {
      if (short !== undefined) meanings.set(short, (meanings.get(short) ?? new Set<string>()).add(long ?? ''));
    }
  }
  for (const [short, longs] of meanings) assert.equal(longs.size, 1, `${short}: ${[...longs].join(', ')}`);
  assert.deepEqual([...(meanings.get('-S') ?? []), ...(meanings.get('-s') ?? [])], ['--server', '--site']);
});

test('a short form does what its option does', async () => {
  for (const [args, says] of [
    [['-S', 's1', '-s', 'a1', '-s', 'a1'], /'-s, --site <id>'.*"a1" is given twice/],
    [['-S', 's1', '-S', 's2', '-s', 'a1'], /--server is given twice/],
    [['-S', 's1', '-s', 'a1', '-a', ''], /'-a, --app <id>'.*The id is empty/],
    [['-S', 's1', '-s', 'a1', '-nd'], /'-n, --dry-run' cannot be used with option '-d, --detach'/],
  ] as const) {
    const { code, stderr } = await runInProcess(['run', ...args]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
});
