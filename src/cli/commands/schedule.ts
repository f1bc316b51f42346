/** `belay schedule`: applies and controls the schedules that start runs and rollouts. */
import colors from 'picocolors';
import { Command, Option } from 'commander';
import { configFile } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { printJson } from '../../process/json-document.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { planSchedules, type PlannedSchedule } from '../../config/plan/plan-schedules.ts';
import { localText } from '../../request/calendar/local-time.ts';
import type { Belay, Firing, ScheduleChange, ScheduleState } from '../../starter.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { examples, json, service } from '../options/shared.ts';
import { colorize } from '../output/run-text.ts';
import { parseId } from '../options/parse-values.ts';
import { reportEndpoints } from '../connection/report-endpoints.ts';
import { withBelay } from '../connection/open-belay.ts';
import { print } from '../../process/print.ts';

interface ApplyOptions {
  service?: string;
  dryRun?: boolean;
  prune?: boolean;
  json?: boolean;
}

export function scheduleCommand(): Command {
  return new Command('schedule')
    .description('create, update and manage the schedules from belay.yaml')
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
    .addCommand(reasonCommand('pause', 'pause a schedule until it is resumed'))
    .addCommand(reasonCommand('resume', 'resume a paused schedule'))
    .addCommand(
      plainCommand('trigger', 'fire the schedule now, in addition to its planned times', (belay, id) =>
        belay.schedules.trigger(id),
      ),
    )
    .addCommand(
      plainCommand('delete', 'delete a schedule; runs that it started continue', (belay, id) =>
        belay.schedules.delete(id),
      ),
    );
}

function applyCommand(): Command {
  return new Command('apply')
    .description('show the differences from belay.yaml, then create and update the schedules to match it')
    .addOption(service())
    .option('--dry-run', 'only show the differences')
    .option('--prune', "also delete schedules of the file's fleets that are no longer in it")
    .addOption(json())
    .action((_options: object, self: Command) => apply(self.optsWithGlobals()));
}

async function apply({ dryRun, prune, service: named, json: asJson }: ApplyOptions): Promise<void> {
  await reportEndpoints(named);
  const configuration = await readConfiguration({ path: configFile().path, isNamed: true });
  const planned = planSchedules(configuration, new Date().getUTCFullYear());
  const definitions = planned.map(({ definition }) => definition);
  const fleets = prune === true ? Object.keys(configuration.fleets ?? {}) : [];
  await withBelay(
    async (belay) => {
      const changes = await belay.schedules.plan(definitions, fleets);
      if (asJson !== true) print([...changes.flatMap(changeLines), ...planned.flatMap(movedLines)]);
      if (dryRun !== true) await belay.schedules.apply(changes);
      const moved = planned.map(({ definition, moved: times }) => ({ scheduleId: definition.scheduleId, times }));
      const shown = changes.map(({ scheduleId, action, differences }) => ({ scheduleId, action, differences }));
      const applied = dryRun !== true;
      if (asJson === true) printJson({ schemaVersion: SCHEMA_VERSION, applied, changes: shown, moved, error: null });
      else print([summaryOf(changes, applied)]);
    },
    definedFields({ service: named }),
  );
}

const SIGNS = { create: '+', update: '~', delete: '-', none: ' ', unmanaged: '?' } as const;

function changeLines({ scheduleId, action, differences }: ScheduleChange): string[] {
  return [`${SIGNS[action]} ${scheduleId}: ${WORDS[action]}`, ...differences.map((line) => `    ${line}`)];
}

const WORDS = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  none: 'up to date',
  unmanaged: 'not in this file; delete it with `belay schedule delete`, or with --prune if its fleet is in the file',
};

/** Only the next day on which clocks skip times of the schedule, because the others are alike. */
function movedLines({ definition: { scheduleId, timeZone }, moved }: PlannedSchedule): string[] {
  const today = new Date().toISOString().slice(0, 10);
  const upcoming = moved.filter(({ date }) => date >= today);
  const ofNextDay = upcoming.filter(({ date }) => date === upcoming[0]?.date);
  const [first] = ofNextDay;
  if (first === undefined) return [];
  const { date, to } = first;
  const at = `${String(to.hour).padStart(2, '0')}:${String(to.minute).padStart(2, '0')}`;
  const times = ofNextDay.map(({ time }) => time).join(', ');
  const starts = ofNextDay.length === 1 ? 'it starts' : 'it starts once,';
  return [`  ${scheduleId}: on ${date} clocks in ${timeZone} skip ${times}, so ${starts} at ${at} instead`];
}

function summaryOf(changes: ScheduleChange[], applied: boolean): string {
  const count = (action: ScheduleChange['action']) => changes.filter((it) => it.action === action).length;
  const words = applied ? ['created', 'updated', 'deleted'] : ['to create', 'to update', 'to delete'];
  const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
  return `${created} ${words[0]}, ${updated} ${words[1]}, ${deleted} ${words[2]}, ${count('none')} up to date`;
}

function listCommand(): Command {
  return new Command('list')
    .description('list schedules with their next times, their last outcomes, and whether they are paused')
    .addOption(json())
    .action(async (_options: object, self: Command) => {
      const schedules = await withBelay((belay) => belay.schedules.list());
      const { json: asJson } = self.optsWithGlobals<{ json?: boolean }>();
      if (asJson === true) printJson({ schemaVersion: SCHEMA_VERSION, schedules, error: null });
      else
        print(
          schedules.length === 0
            ? ['no schedules; create them with `belay schedule apply`']
            : schedules.flatMap(stateLines),
        );
    });
}

function stateLines(state: ScheduleState): string[] {
  const { scheduleId, when, timeZone, paused, note, next, last, skipped, missed } = state;
  const why = note === null || note === '' ? '' : `: ${plainText(note)}`;
  const times = next.map((at) => localText(new Date(at), timeZone)).join(', ');
  return [
    `${scheduleId}  ${when ?? 'not created by Belay'} (${timeZone})${paused ? colors.yellow('  paused') + why : ''}`,
    `  next: ${paused ? 'none while paused' : times || 'none'}`,
    ...last.map((firing) => `  last: ${localText(new Date(firing.firedAt), timeZone)}  ${firingText(firing)}`),
    ...(skipped === 0 ? [] : [`  skipped because the last run was still in progress: ${skipped}`]),
    ...(missed === 0 ? [] : [`  missed while Temporal was down: ${missed}`]),
  ];
}

function firingText({ outcome, already, forgotten, workflowId }: Firing): string {
  if (forgotten) return 'no longer stored in Temporal';
  if (already) return `nothing to do: already started as ${workflowId}`;
  const state = colorize({ outcome, error: null }, outcome ?? 'in progress');
  return workflowId === null ? state : `${state}  ${workflowId}`;
}

function reasonCommand(action: 'pause' | 'resume', description: string): Command {
  return new Command(action)
    .description(description)
    .argument('<scheduleId>', 'id of the schedule, from `belay schedule list`', parseId)
    .addOption(new Option('--reason <text>', 'why; `belay schedule list` shows it').makeOptionMandatory())
    .addOption(json())
    .action((scheduleId: string, _options: object, self: Command) => {
      const { reason, json: asJson } = self.optsWithGlobals<{ reason: string; json?: boolean }>();
      return act(scheduleId, asJson, `${action}d`, (belay) => belay.schedules[action](scheduleId, reason));
    });
}

function plainCommand(
  action: 'trigger' | 'delete',
  description: string,
  does: (belay: Belay, scheduleId: string) => Promise<void>,
): Command {
  return new Command(action)
    .description(description)
    .argument('<scheduleId>', 'id of the schedule, from `belay schedule list`', parseId)
    .addOption(json())
    .action(async (scheduleId: string, _options: object, self: Command) => {
      const { json: asJson } = self.optsWithGlobals<{ json?: boolean }>();
      if (action === 'trigger') await reportEndpoints(undefined);
      const done = action === 'trigger' ? 'triggered' : 'deleted';
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
  if (asJson === true) printJson({ schemaVersion: SCHEMA_VERSION, scheduleId, done, error: null });
  else print([`${scheduleId} ${done}`]);
}
