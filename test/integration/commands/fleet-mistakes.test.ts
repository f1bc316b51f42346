import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { scheduleCommand } from '../../../src/features/schedules/commands.ts';
import { ConfigError } from '../../../src/config/environment/variables.ts';
import { readConfiguration } from '../../../src/config/load.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { notInTime } from '../../support/schedules.ts';
import { CRON, MISTAKES, ROLLOUT, inFleet, inSchedule } from '../../support/fleet-mistakes.ts';
import { tempFolder } from '../../support/temporal.ts';

const JARGON = /Invalid|Too (small|big)|expected|received|Constraint|Validation error|must match|undefined/i;

let file: string;
before(async () => {
  file = join(await tempFolder(), 'belay.yaml');
});

async function problemOf(text: string): Promise<string> {
  writeFileSync(file, text);
  const error = await readConfiguration({ path: file, isNamed: true }).then(
    () => null,
    (it: unknown) => it,
  );
  assert.ok(error instanceof ConfigError, `${text}\n${String(error)}`);
  return error.message.replace(file, 'FILE');
}

describe('a mistake in a fleet, rollout or schedule is reported with its file, line, key and remedy:', () => {
  for (const { what, text, place, remedy } of MISTAKES) {
    test(what, async () => {
      const told = await problemOf(text);
      assert.equal(told.slice(0, place.length), place, told);
      assert.match(told.slice(place.length), remedy);
      assert.doesNotMatch(told, JARGON);
    });
  }

  test('a key with a line break is reported on one line', async () => {
    assert.match(await problemOf(inFleet('"a\\nb": {}')), /^FILE:4: fleets\.shop\.servers\.[^\n]*: [^\n]*$/);
  });
});

describe('a belay.yaml with a mistake changes nothing', () => {
  const COMMANDS = ['schedule apply', 'schedule apply --prune', 'run --server 12 --site 34', 'rollout start steady'];
  let on: Commands;
  const belay = (...args: string[]) => runInProcess(args, { ...on.env, BELAY_CONFIG: file });
  before(async () => {
    on = await commandsOn('nothing');
    writeFileSync(file, inSchedule(`${CRON}\n${ROLLOUT}`));
    assert.equal((await belay('schedule', 'apply')).code, 0);
  });

  async function nightly() {
    const handle = on.client.schedule.getHandle('belay:shop:nightly');
    const { raw, info } = await eventually('the schedule', () => handle.describe().catch(notInTime));
    return JSON.stringify([raw.schedule, info.lastUpdatedAt]);
  }

  test('schedule apply rejects every kind of mistake and leaves the schedule as it was', async () => {
    const there = await nightly();
    const taken: string[] = [];
    const own = process.env;
    process.env = { ...own, ...on.env, BELAY_CONFIG: file };
    for (const { what, text } of MISTAKES) {
      writeFileSync(file, text);
      await scheduleCommand()
        .parseAsync(['apply'], { from: 'user' })
        .then(
          () => taken.push(what),
          (error: unknown) => error instanceof ConfigError || taken.push(what),
        );
    }
    process.env = own;
    assert.equal(await nightly(), there);
    assert.deepEqual(taken, []);
  });

  for (const args of COMMANDS) {
    test(`belay ${args} exits 2 with one line, and starts nothing`, async () => {
      const there = await nightly();
      writeFileSync(file, inSchedule(`cron: 0 4 * * *\n${ROLLOUT}\noverlap: maybe`));
      const { code, stdout, stderr } = await belay(...args.split(' '));
      assert.equal(stderr, `belay: ${file}:15: schedules.nightly.overlap: write one of skip, queue\n`);
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(await nightly(), there);
      assert.equal((await on.client.workflow.count()).count, 0);
      assert.ok(on.sandbox.journal.every(({ request }) => !request.startsWith('POST')));
    });
  }

  test('every command exits 2 even if Temporal is unreachable', async () => {
    writeFileSync(file, inSchedule(`${CRON}\n${ROLLOUT}\noverlap: maybe`));
    for (const args of COMMANDS) {
      const { code, stderr } = await runInProcess(args.split(' '), {
        BELAY_CONFIG: file,
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      });
      assert.deepEqual([args, code], [args, 2], stderr);
    }
  });

  test('an unknown rollout is reported with the names of the existing ones', async () => {
    writeFileSync(file, inSchedule(`${CRON}\n${ROLLOUT}`));
    const { code, stderr } = await belay('rollout', 'start', 'fast');
    assert.deepEqual([code, stderr.includes('has no rollout fast; it has steady\n')], [2, true], stderr);
  });
});
