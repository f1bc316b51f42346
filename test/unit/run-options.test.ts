import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { z } from 'zod';
import { addRunOptions, toRunInput, withOptions, type CommanderValues } from '../../src/cli/run-options.ts';
import { toRunOptions, runOptionsShape } from '../../src/config/file/run-options.ts';
import { setValueAt, valueAt, RUN_OPTIONS, type RunCommand, type RunOptionRow } from '../../src/request/run-options.ts';
import { configurationSchema } from '../../src/config/file/file-schema.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { validateRolloutInput } from '../../src/request/input/rollout-input.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';
import { rolloutOf } from '../support/rollouts.ts';

const RUN_TYPES = {
  run: 'backupThenDeploy',
  backup: 'backupOnly',
  deploy: 'deployOnly',
  watch: 'watchDeployment',
} as const;

/** The argument a user writes, and the value in the input. */
function sampleOf({ type }: RunOptionRow): { text: string; value: unknown } {
  switch (type.kind) {
    case 'duration':
      return { text: '90s', value: 90_000 };
    case 'count':
      return { text: '7', value: 7 };
    case 'choice':
      return { text: type.of.at(-1) ?? '', value: type.of.at(-1) };
    case 'switch':
      return { text: '', value: true };
    case 'id':
    case 'ids':
      return { text: 'b1', value: 'b1' };
    case 'commit':
      return { text: '3F2C1AB', value: '3f2c1ab' };
    case 'map':
      return { text: 'job=7', value: { job: '7' } };
  }
}

function parse(name: RunCommand, ...args: string[]): CommanderValues {
  const command = addRunOptions(new Command(name), name).exitOverride();
  const needed = { run: ['--server', 's', '--site', 'a'], backup: ['--server', 's'] };
  const own = needed[name as keyof typeof needed] ?? ['--site', 'a'];
  return command
    .configureOutput({ writeErr: () => undefined })
    .parse([...own, ...args], { from: 'user' })
    .opts();
}

/** Options that make sense only beside another. */
const NEEDED_BESIDE: Partial<Record<string, string[]>> = { orNewer: ['--commit', '3f2c1ab'] };

for (const row of RUN_OPTIONS) {
  const { text, value } = sampleOf(row);
  const args = text === '' ? [row.flag] : [row.flag, text];

  for (const command of row.commands) {
    test(`belay ${command} ${row.flag} sets ${row.path}`, () => {
      const input = toRunInput(parse(command, ...args, ...(NEEDED_BESIDE[row.path] ?? [])));
      assert.deepEqual(valueAt(input, row.path), value);
      assert.equal(validateRunInput(RUN_TYPES[command], input), null);
    });
  }

  const others = (['run', 'backup', 'deploy', 'watch'] as const).filter((name) => !row.commands.includes(name));
  for (const command of others) {
    test(`belay ${command} does not accept ${row.flag}`, () => {
      assert.throws(() => parse(command, ...args), { code: 'commander.unknownOption' });
    });
  }

  const { notInRollout } = row;
  test(`a rollout ${notInRollout === undefined ? 'takes' : 'does not take'} ${row.path} for its servers`, () => {
    const options = row.path === 'orNewer' ? { commit: '3f2c1ab' } : {};
    setValueAt(options, row.path, value);
    const problem = validateRolloutInput(rolloutOf([{ serverId: 's', siteIds: ['a'] }], { options }));
    assert.equal(problem, notInRollout === undefined ? null : `options.${row.path}: ${notInRollout}`);
  });

  if (row.yaml !== undefined) {
    test(`${row.path} can be set in belay.yaml`, () => {
      const [group, field] = row.path.includes('.') ? [row.path.split('.')[0]!, row.yaml] : [null, row.yaml];
      const written = { [field!]: row.type.kind === 'count' ? 7 : row.type.kind === 'switch' ? true : text };
      const config = z.strictObject(runOptionsShape).parse(group === null ? written : { [group]: written });
      assert.deepEqual(valueAt(toRunOptions(config), row.path), value);
    });
  }
}

test('an omitted option stays out of the input', () => {
  assert.deepEqual(toRunInput(parse('deploy')), { siteIds: ['a'] });
  assert.deepEqual(toRunOptions({}), {});
});

test('targets are deployed in the order of the command line, over sites and apps', () => {
  const values = parse('deploy', '--app', 'b1', '--site', 'a2', '--app', 'a2');
  const targets = [siteTarget('a'), appTarget('b1'), siteTarget('a2'), appTarget('a2')];
  assert.deepEqual(toRunInput(values), { targets });
});

test('without an app, the input names sites only', () => {
  assert.deepEqual(toRunInput(parse('deploy', '--site', 'b')), { siteIds: ['a', 'b'] });
});

const PATHS: [path: string, isAllowed: boolean][] = [
  ['/v1/apps/{id}/deploy', true],
  ['/apps/{id}.json', true],
  ['v1/apps/{id}', false],
  ['https://other.example/apps/{id}', false],
  ['//other.example/apps/{id}', false],
  ['/apps', false],
  ['/apps/{id}/{id}', false],
  ['/teams/{team}/apps/{id}', false],
  ['/apps/{id}?full=1', false],
  ['/apps/{id}#top', false],
  ['/apps/../sites/{id}', false],
  ['/apps\\{id}', false],
  ['/my apps/{id}', false],
];
for (const [path, isAllowed] of PATHS) {
  test(`the path ${path} of apps is ${isAllowed ? 'accepted' : 'rejected'}`, () => {
    const app = { deploy: path, latest: '/apps/{id}/latest' };
    assert.equal(configurationSchema.safeParse({ api: { app } }).success, isAllowed);
  });
}

test('a command names the options of what a request must not have, not the fields of the library', () => {
  const site = { siteIds: ['34'] };
  const problemOf = (input: object) => withOptions(validateRunInput('deployOnly', { ...site, ...input }) ?? '');
  assert.equal(problemOf({ orNewer: true }), '--or-newer: requires a commit');
  assert.equal(
    problemOf({ supersede: true, ifBusy: 'fail' }),
    '--supersede: waits for the lock, and --if-busy is fail: leave one out',
  );
  const rollout = rolloutOf([{ serverId: '12', ...site }], { options: { orNewer: true } });
  assert.equal(withOptions(validateRolloutInput(rollout) ?? ''), '--or-newer: requires a commit');
  assert.equal(withOptions('service: is not a URL'), null);
});
