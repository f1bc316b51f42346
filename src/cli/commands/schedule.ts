/** `belay schedule`: what is started by itself. */
import colors from 'picocolors';
import { Command, Option } from 'commander';
import { configFile } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { SCHEMA_VERSION } from '../../contract/run.ts';
import { printDocument } from '../../process/json-document.ts';
import { planSchedules, type PlannedSchedule } from '../../config/plan/plan-schedules.ts';
import { localText } from '../../request/calendar/local-time.ts';
import type { Belay, Firing, ScheduleChange, ScheduleState } from '../../starter.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { examples, json } from '../options/add-run-options.ts';
import { paint } from '../output/run-text.ts';
import { parseId } from '../options/parse-values.ts';
import { withBelay } from '../waiting/connection.ts';

interface ApplyOptions {
  dryRun?: boolean;
  prune?: boolean;
  json?: boolean;
}

export function scheduleCommand(): Command {
  return new Command('schedule')
    .description('bring the schedules of belay.yaml to Temporal, and look after them')
    .addHelpText(
      'after',
      examples(
        'belay schedule apply --dry-run',
        'belay schedule list',
        'belay schedule pause belay:shop:nightly --reason "the data centre moves"',
      ),
    )
    .addCommand(applyCommand())
    .addCommand(listCommand())
    .addCommand(reasonCommand('pause', 'start nothing by it until it is resumed'))
    .addCommand(reasonCommand('resume', 'start by it again'))
    .addCommand(plainCommand('trigger', 'start it now, beside its times', (belay, id) => belay.schedules.trigger(id)))
    .addCommand(
      plainCommand('delete', 'delete it; what it started goes on', (belay, id) => belay.schedules.delete(id)),
    );
}

function applyCommand(): Command {
  return new Command('apply')
    .description('create and change schedules so that they are as belay.yaml says; shows the difference first')
    .option('--dry-run', 'only show the difference')
    .option('--prune', "delete schedules of the file's fleets that it does not name")
    .addOption(json())
    .action((_options: object, self: Command) => apply(self.optsWithGlobals()));
}

async function apply({ dryRun, prune, json: asJson }: ApplyOptions): Promise<void> {
  const configuration = await readConfiguration({ path: configFile().path, isNamed: true });
  const planned = planSchedules(configuration, new Date().getUTCFullYear());
  const definitions = planned.map(({ definition }) => definition);
  const fleets = prune === true ? Object.keys(configuration.fleets ?? {}) : [];
  await withBelay(async (belay) => {
    const changes = await belay.schedules.plan(definitions, fleets);
    if (asJson !== true) print([...changes.flatMap(changeLines), ...planned.flatMap(movedLines)]);
    if (dryRun !== true) await belay.schedules.apply(changes);
    const moved = planned.map(({ definition, moved: times }) => ({ scheduleId: definition.scheduleId, times }));
    const said = changes.map(({ scheduleId, what, differences }) => ({ scheduleId, what, differences }));
    const applied = dryRun !== true;
    if (asJson === true) printDocument({ schemaVersion: SCHEMA_VERSION, applied, changes: said, moved, error: null });
    else print([summaryOf(changes, applied)]);
  });
}

const SIGNS = { create: '+', update: '~', delete: '-', none: ' ', left: '?' } as const;

function changeLines({ scheduleId, what, differences }: ScheduleChange): string[] {
  return [`${SIGNS[what]} ${scheduleId}: ${WORDS[what]}`, ...differences.map((line) => `    ${line}`)];
}

const WORDS = {
  create: 'to be created',
  update: 'to be changed',
  delete: 'to be deleted',
  none: 'as it should be',
  left: 'not in this file: `--prune` deletes it if its fleet is, `belay schedule delete` any',
};

/** The next day without times of the schedule; the others are like it. */
function movedLines({ definition: { scheduleId, timeZone }, moved }: PlannedSchedule): string[] {
  const today = new Date().toISOString().slice(0, 10);
  const toCome = moved.filter(({ date }) => date >= today);
  const ofNextDay = toCome.filter(({ date }) => date === toCome[0]?.date);
  const [first] = ofNextDay;
  if (first === undefined) return [];
  const { date, to } = first;
  const at = `${String(to.hour).padStart(2, '0')}:${String(to.minute).padStart(2, '0')}`;
  const times = ofNextDay.map(({ time }) => time).join(', ');
  const starts = ofNextDay.length === 1 ? 'it starts' : 'they start, as one,';
  return [`  ${scheduleId}: on ${date} there is no ${times} in ${timeZone}, where clocks jump: ${starts} at ${at}`];
}

function summaryOf(changes: ScheduleChange[], applied: boolean): string {
  const count = (what: ScheduleChange['what']) => changes.filter((it) => it.what === what).length;
  const words = applied ? ['created', 'changed', 'deleted'] : ['to create', 'to change', 'to delete'];
  const [created, changed, deleted] = [count('create'), count('update'), count('delete')];
  return `${created} ${words[0]}, ${changed} ${words[1]}, ${deleted} ${words[2]}, ${count('none')} as they should be`;
}

function listCommand(): Command {
  return new Command('list')
    .description('list schedules: their next times, their last outcomes, and which are paused')
    .addOption(json())
    .action(async (_options: object, self: Command) => {
      const schedules = await withBelay((belay) => belay.schedules.list());
      const { json: asJson } = self.optsWithGlobals<{ json?: boolean }>();
      if (asJson === true) printDocument({ schemaVersion: SCHEMA_VERSION, schedules, error: null });
      else print(schedules.length === 0 ? ['no schedules: belay schedule apply'] : schedules.flatMap(stateLines));
    });
}

function stateLines(state: ScheduleState): string[] {
  const { scheduleId, when, timeZone, paused, note, next, last, skipped, missed } = state;
  const why = note === null || note === '' ? '' : `: ${plainText(note)}`;
  const times = next.map((at) => localText(new Date(at), timeZone)).join(', ');
  return [
    `${scheduleId}  ${when ?? 'not made by Belay'} (${timeZone})${paused ? colors.yellow('  paused') + why : ''}`,
    `  next: ${paused ? 'none while it is paused' : times || 'none'}`,
    ...last.map((firing) => `  last: ${localText(new Date(firing.firedAt), timeZone)}  ${firingText(firing)}`),
    ...(skipped === 0 ? [] : [`  left out while the last one went on: ${skipped}`]),
    ...(missed === 0 ? [] : [`  missed while Temporal was down: ${missed}`]),
  ];
}

function firingText({ outcome, already, forgotten, workflowId }: Firing): string {
  if (forgotten) return 'Temporal keeps it no longer';
  if (already) return `nothing to do: ${workflowId} had it done`;
  const state = paint({ outcome, error: null }, outcome ?? 'in flight');
  return workflowId === null ? state : `${state}  ${workflowId}`;
}

function reasonCommand(what: 'pause' | 'resume', description: string): Command {
  return new Command(what)
    .description(description)
    .argument('<scheduleId>', 'as `belay schedule list` shows it', parseId)
    .addOption(new Option('--reason <text>', 'why; `belay schedule list` shows it').makeOptionMandatory())
    .addOption(json())
    .action((scheduleId: string, _options: object, self: Command) => {
      const { reason, json: asJson } = self.optsWithGlobals<{ reason: string; json?: boolean }>();
      return act(scheduleId, asJson, `${what}d`, (belay) => belay.schedules[what](scheduleId, reason));
    });
}

function plainCommand(
  what: 'trigger' | 'delete',
  description: string,
  does: (belay: Belay, scheduleId: string) => Promise<void>,
): Command {
  return new Command(what)
    .description(description)
    .argument('<scheduleId>', 'as `belay schedule list` shows it', parseId)
    .addOption(json())
    .action((scheduleId: string, _options: object, self: Command) => {
      const { json: asJson } = self.optsWithGlobals<{ json?: boolean }>();
      const done = what === 'trigger' ? 'triggered' : 'deleted';
      return act(scheduleId, asJson, done, (belay) => does(belay, scheduleId));
    });
}

async function act(
  scheduleId: string,
  asJson: boolean | undefined,
  done: string,
  does: (belay: Belay) => Promise<void>,
): Promise<void> {
  await withBelay(does);
  if (asJson === true) printDocument({ schemaVersion: SCHEMA_VERSION, scheduleId, done, error: null });
  else print([`${scheduleId} ${done}`]);
}

const print = (lines: string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(''));
