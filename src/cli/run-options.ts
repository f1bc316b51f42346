/** The command line's side of the option table: options of a command, and a run's input from them. */
import { Option, type Command } from 'commander';
import type { RunInput } from '../contract/run.ts';
import { appTarget, siteTarget, targetsInput, type Target } from '../contract/target.ts';
import { durationText } from '../contract/duration.ts';
import { BelayError } from '../contract/errors.ts';
import {
  setValueAt,
  type RunOptionPath,
  RUN_OPTIONS,
  type RunCommand,
  type RunOptionRow,
} from '../request/run-options.ts';
import { oneOrMoreOf, RepeatableOption } from './options.ts';
import { collectMeta, collectTargets, countWithin, durationWithin, parseCommit, parseId } from './parse-values.ts';

/** As commander gives them: by flag in camel case. */
export type CommanderValues = Record<string, unknown> & { server?: string; targets?: Target[] };

export function addRunOptions(command: Command, name: RunCommand): Command {
  if (name === 'run' || name === 'backup') command.addOption(serverOption());
  if (name !== 'backup') {
    if (name === 'watch') addTargetOptions(command, WATCHED, 1);
    else addTargetOptions(command, DEPLOYED);
  }
  for (const option of RUN_OPTIONS.filter(({ commands }) => commands.includes(name))) {
    command.addOption(toCommanderOption(option));
  }
  return command;
}

/** @param help of each kind @param limit how many may be given */
export function addTargetOptions(command: Command, help: Record<Target['kind'], string>, limit = Infinity): Command {
  return command
    .addOption(new TargetOption('--site <id>', help.site, collectTargets(siteTarget, limit)))
    .addOption(new TargetOption('--app <id>', help.app, collectTargets(appTarget, limit)));
}

/** The row's option, for commands that share a single one with the runs. @param what is started, in the help */
export function runOption(path: RunOptionPath, what: 'run' | 'rollout' = 'run'): Option {
  const option = toCommanderOption(rowOf(path));
  option.description = option.description.replaceAll('the run', `the ${what}`);
  return option;
}

/** Leaves out options that were not given, because a key compares requests. */
export function toRunInput(values: CommanderValues): RunInput {
  const { server, targets = [] } = values;
  const input: RunInput = { ...targetsInput(targets), ...(server === undefined ? {} : { serverId: server }) };
  for (const option of RUN_OPTIONS) {
    const value = values[toCommanderOption(option).attributeName()];
    if (value !== undefined) setValueAt(input, option.path, value);
  }
  return input;
}

const rowOf = (path: RunOptionPath): RunOptionRow => RUN_OPTIONS.find((it) => it.path === path)!;

function toCommanderOption(row: RunOptionRow): Option {
  const { type, conflicts } = row;
  const flags = [row.flag, PLACEHOLDER[type.kind]].join(' ').trim();
  const help = `${row.help}${defaultText(row)}`;
  if (type.kind === 'map') return new RepeatableOption(flags, help, collectMeta);
  if (type.kind === 'ids') return new RepeatableOption(flags, help, oneOrMoreOf(parseId));
  const option = new Option(flags, help);
  if (conflicts !== undefined) option.conflicts(new Option(rowOf(conflicts).flag).attributeName());
  switch (type.kind) {
    case 'duration':
      return option.argParser(durationWithin(type.limits));
    case 'count':
      return option.argParser(countWithin(type.limits));
    case 'choice':
      return option.choices(type.of);
    case 'id':
      return option.argParser(parseId);
    case 'commit':
      return option.argParser(parseCommit);
    case 'switch':
      return option;
  }
}

const PLACEHOLDER = {
  duration: '<duration>',
  count: '<n>',
  choice: '<choice>',
  id: '<id>',
  ids: '<id>',
  commit: '<sha>',
  map: '<name=value>',
  switch: '',
} as const;

/** Not commander's own default: an option that was not given must stay out of the input. */
function defaultText({ default: value, derived, type }: RunOptionRow): string {
  if (derived !== undefined) return ` (default: ${derived.text})`;
  if (value === undefined || type.kind === 'switch') return '';
  return ` (default: ${type.kind === 'duration' ? durationText(Number(value)) : (value as string | number)})`;
}

const serverOption = () => new Option('--server <id>', 'server to back up').argParser(parseId).makeOptionMandatory();

const DEPLOYED = {
  site: 'site to deploy (repeatable); sites and apps are deployed in the order given',
  app: "app to deploy (repeatable), in one order with the sites; requires api.app in the worker's belay.yaml",
};
const WATCHED = {
  site: 'site whose deployment to follow',
  app: "app whose deployment to follow; requires api.app in the worker's belay.yaml",
};

/** The library names the fields of an input, and a command line has options. */
export function nameOptions(error: unknown): never {
  const message = error instanceof BelayError && error.type === 'Usage' ? withOptions(error.message) : null;
  throw message === null ? error : new BelayError('Usage', message, null, { cause: error });
}

/** @returns a message about a field of a run as one about its option; null for any other message */
export function withOptions(message: string): string | null {
  // What all runs of a rollout get is a problem of one of its runs.
  const [whole = '', path] = /^(?:waves\[\d+\]\.targets\[\d+\]: )?([\w.]+): /.exec(message) ?? [];
  const flagOf = (field: string | undefined) => RUN_OPTIONS.find((it) => it.path === field)?.flag;
  const flag = flagOf(path);
  if (flag === undefined) return null;
  return `${flag}: ${message.slice(whole.length).replace(/\b[a-z]+[A-Z]\w*/g, (field) => flagOf(field) ?? field)}`;
}

/** All options for targets add to one list, so that it has the order of the command line. */
class TargetOption extends RepeatableOption<Target[]> {
  override attributeName(): string {
    return 'targets';
  }
}
