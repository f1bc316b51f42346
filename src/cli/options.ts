/** Options of commands. Options of runs are in src/request/run-options.ts. */
import { Option, type Command, InvalidArgumentError } from 'commander';
import type { FreezeOverride } from '../features/freezes/shapes.ts';
import type { CheckWaiver } from '../features/site-checks/shapes.ts';
import { BelayError } from '../contract/errors.ts';
import { plainText, shellWord } from '../contract/safe-text.ts';
import { namesOfLongNotes, MAX_META_LENGTH } from '../request/limits.ts';
import { durationWithin, parseFilled, parseId, parseRunId, parseWritable, TIMER_LIMITS } from './parse-values.ts';

export const json = () => new Option('--json', 'print exactly one JSON document on stdout');
export const summary = () =>
  new Option('--summary <file>', 'append the result as Markdown to this file, for the page of a CI job').argParser(
    parseWritable,
  );
export const service = () =>
  new Option(
    '--service <url>',
    'hosting service to use (default: BELAY_SERVICE, else `service:` in belay.yaml, else the one that the workers serve)',
  );
export const runId = () =>
  new Option('--run-id <id>', 'run id of one execution of the workflow (default: the latest)').argParser(parseRunId);

/** @param help why it is asked for */
export const reason = (help: string) =>
  new Option('--reason <text>', help).argParser(parseFilled).makeOptionMandatory();
export const by = () =>
  new Option('--by <name>', 'who decides (default: your user name and host)').argParser(parseFilled);

/** @param what is exempted, in the help @param deploys whether it has checks to leave out */
export function addExceptionOptions(command: Command, what = 'run', deploys = true): Command {
  command.addOption(
    new RepeatableOption(
      '--override-freeze <name>',
      `exempt the ${what} from this freeze or window, named as in \`belay freezes\` (repeatable); requires --reason`,
      collectOf(parseId),
    ),
  );
  if (deploys) command.option('--no-check', 'leave out the checks of its sites; requires --reason');
  const flags = deploys ? '--override-freeze or --no-check' : '--override-freeze';
  return command.option('--reason <text>', `why, with ${flags}; recorded with your name`, parseFilled);
}

export interface ExceptionOptions {
  overrideFreeze?: string[];
  check?: boolean;
  reason?: string;
}

/** What a run or rollout is exempted from. @throws BelayError without a reason, or if nothing needs the reason given */
export function exceptionsOf({ overrideFreeze, check = true, reason: why }: ExceptionOptions): {
  override?: FreezeOverride;
  noCheck?: CheckWaiver;
} {
  if (overrideFreeze === undefined && check) {
    if (why === undefined) return {};
    throw new BelayError(
      'Usage',
      '--reason is for an exception: give --override-freeze, or --no-check where sites are deployed',
    );
  }
  if (why === undefined)
    throw new BelayError('Usage', `${check ? '--override-freeze' : '--no-check'} requires --reason`);
  return {
    ...(overrideFreeze === undefined ? {} : { override: { freezes: overrideFreeze, reason: why } }),
    ...(check ? {} : { noCheck: { reason: why } }),
  };
}

/** Tells the user which notes (`--meta`) were too long, and are stored shorter than they were given. */
export const metaNotes = (meta: Record<string, string> | undefined): string[] =>
  namesOfLongNotes(meta).map((name) => `note: --meta ${plainText(name)} was cut to ${MAX_META_LENGTH} characters`);

export const dryRunOption = () =>
  new Option(
    '--dry-run',
    'show what would be done, for which service, what is in the way, the checks, and how long it usually takes; start nothing, and do not check whether --key is taken',
  ).conflicts('detach');

export function addStartOptions(command: Command): Command {
  return command
    .addOption(service())
    .option(
      '--key <key>',
      'idempotency key: join the run if it is in progress, return its result if it has finished',
      parseId,
    )
    .option('--again', 'with --key: start a new run if the previous one ended with any outcome but completed')
    .option('--detach', 'start the run and exit; use `belay wait` for its verdict');
}

/** @param what the command waits for, in the help */
export function addWaitOptions(command: Command, what = 'run'): Command {
  return command
    .addOption(
      new Option('--wait-timeout <duration>', `stop waiting after this long; the ${what} continues`)
        .argParser(durationWithin(TIMER_LIMITS))
        .conflicts('detach'),
    )
    .addOption(summary().conflicts('detach'))
    .addOption(
      new Option('--cancel-on-interrupt', `cancel the ${what} on Ctrl-C, SIGTERM or SIGHUP`).conflicts('detach'),
    );
}

export const followOption = () =>
  new Option('--follow', 'if a newer run replaces this one, wait for that one, and exit with its verdict').conflicts(
    'detach',
  );

const LIST_LIMITS = { alone: 20, withSince: 1_000 } as const;

export const listLimitHelp = (what: 'runs' | 'rollouts'): string =>
  `maximum number of ${what} (default: ${LIST_LIMITS.alone}; with --since: ${LIST_LIMITS.withSince})`;

/** How many a list shows. Whoever gives a time wants to see everything since then. */
export const mostListed = ({ since, limit }: { since?: number; limit?: number }): number =>
  limit ?? (since === undefined ? LIST_LIMITS.alone : LIST_LIMITS.withSince);

export const MORE_TO_LIST = 'use a higher --limit to see more';

export const WEBHOOK_PORT = 4181;
export const BOARD_PORT = 4183;

/** For the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/* What happens to an option that is given twice: it collects its values, or the command is refused. */

/** Any other option is given at most once: see `refuseRepeated`. */
export class RepeatableOption<T> extends Option {
  constructor(flags: string, description: string, collect: (text: string, before?: T) => T) {
    super(flags, description);
    this.argParser(collect);
  }
}

/** Commander would take the last value alone, so a second server would silently replace the first. */
export function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (option instanceof RepeatableOption) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`${option.long ?? option.flags} is given twice: give it once`);
      isGiven = true;
    });
  }
}

/**
 * Commander would take the option that follows for the value, as after an empty variable of a shell: a deployment whose
 * `--key $KEY --dry-run` lacks the key would be made.
 */
export function refuseOptionsAsValues(command: Command): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (args) => {
    const optionOf = (text = '') => command.options.find(({ long, short }) => [long, short].includes(text));
    for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
      const option = optionOf(args[at]);
      if (option?.required !== true) continue;
      at += 1;
      const next = args[at] ?? '';
      if (!next.startsWith('--') && next !== '-h' && optionOf(next) === undefined) continue;
      const name = option.long ?? option.flags;
      command.error(
        `${name} has no value, because ${next} follows: if that is its value, write ${name}=${shellWord(next)}`,
      );
    }
    return parse(args);
  };
}

export function collectOf<T>(parse: (text: string) => T) {
  return (text: string, before: T[] = []): T[] => {
    const value = parse(text);
    if (before.includes(value)) throw new InvalidArgumentError(`"${text}" is given twice. Give it once.`);
    return [...before, value];
  };
}

/** Like `collectOf`, but a single value is no list, because the input of a run has either an id or a list of them. */
export function oneOrMoreOf<T>(parse: (text: string) => T) {
  const collect = collectOf(parse);
  return (text: string, before?: T | T[]): T | T[] =>
    before === undefined ? parse(text) : collect(text, [before].flat() as T[]);
}
