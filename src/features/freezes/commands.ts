/** Defines `belay freeze`, `thaw` and `freezes`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { LIMITS } from '../../request/limits.ts';
import type { FreezeOptions, ThawOptions, FreezesOptions } from './actions.ts';
import { addTargetOptions } from '../../cli/run-options.ts';
import { durationWithin, parseId } from '../../cli/parse-values.ts';
import { INSTANT_REMEDY, parseInstant } from './request.ts';
import { SCOPE_KINDS } from './shapes.ts';
import { collectOf, RepeatableOption, by, examples, json, reason } from '../../cli/options.ts';

const load = () => import('./actions.ts');

export const freezeCommands = (): Command[] => [freezeCommand(), thawCommand(), freezesCommand()];

function freezeCommand(): Command {
  const command = new Command('freeze')
    .summary('hold back deployments from now on')
    .description(
      'hold back deployments from now on: of everything, or of fleets, servers, sites or apps; a worker has to confirm it',
    );
  return addScope(command, 'hold back')
    .addOption(
      new Option('--until <time>', 'when it ends, such as 2026-12-20T18:00Z or 2026-12-20T18:00+01:00')
        .argParser(parseInstantText)
        .conflicts('for'),
    )
    .addOption(
      new Option('--for <duration>', 'how long it lasts, at most 92d').argParser(durationWithin(LIMITS.freezeMs)),
    )
    .addOption(reason('why; shown to everyone whose deployment it stops'))
    .option('--no-override', 'never let a run off with --override-freeze')
    .option('--backups', 'hold back backups as well')
    .option('--extend', 'replace a freeze of the same scope that ends earlier')
    .addOption(by())
    .addOption(json())
    .addHelpText(
      'after',
      examples(
        'belay freeze --for 2h --reason "the database is being moved"',
        'belay freeze --site 34 --site 35 --for 1d --reason "the shop has a sale"',
        'belay freeze --server 12 --until 2026-12-20T18:00+01:00 --reason "disks are being replaced" --backups',
      ),
    )
    .action(async (options: FreezeOptions) => (await load()).beginFreeze(options));
}

function thawCommand(): Command {
  const command = new Command('thaw')
    .summary('end a freeze')
    .description('end a freeze that `belay freeze` began, and wake the runs that wait for it; needs no worker');
  return addScope(command, 'end the freeze of')
    .addOption(reason('why; recorded with the freeze'))
    .addOption(by())
    .addOption(json())
    .addHelpText(
      'after',
      examples('belay thaw --reason "the database has moved"', 'belay thaw --server 12 --reason done'),
    )
    .action(async (options: ThawOptions) => (await load()).thaw(options));
}

const ASKED = {
  site: 'only what holds back this site (repeatable)',
  app: 'only what holds back this app (repeatable)',
};

function freezesCommand(): Command {
  const command = new Command('freezes')
    .summary('list freezes and windows')
    .description(
      'list freezes and windows, from `belay freeze` and from the belay.yaml on this machine; exit 5 if something is frozen',
    );
  return addTargetOptions(command, ASKED)
    .addOption(
      new Option('--at <time>', 'at this time, such as 2026-12-24T12:00Z (default: now)').argParser(parseInstantText),
    )
    .addOption(json())
    .addHelpText('after', examples('belay freezes', 'belay freezes --site 34 --at 2026-12-24T12:00Z'))
    .action(async (options: FreezesOptions) => (await load()).printFreezes(options));
}

/** Without any of these options, the command is about everything. */
function addScope(command: Command, verb: string): Command {
  for (const kind of SCOPE_KINDS) {
    const flags = `--${kind} <${kind === 'fleet' ? 'name' : 'id'}>`;
    command.addOption(new RepeatableOption(flags, `${verb} this ${kind} (repeatable)`, collectOf(parseId)));
  }
  return command;
}

/** @returns it in UTC */
function parseInstantText(text: string): string {
  const ms = parseInstant(text);
  if (ms !== null) return new Date(ms).toISOString();
  throw new InvalidArgumentError(`"${text}" is not a time with its zone: ${INSTANT_REMEDY}.`);
}
