/** Options of commands. Options of runs are in src/request/run-options.ts. */
import { Option, type Command } from 'commander';
import type { FreezeOverride } from '../../contract/freeze.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { durationText, HOUR_MS } from '../../contract/wording/duration.ts';
import { durationWithin, parseId, parseWritable, TIMER_LIMITS } from './parse-values.ts';

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
export const runId = () => new Option('--run-id <id>', 'run id of one execution of the workflow (default: the latest)');

/** @param help why it is asked for */
export const reason = (help: string) => new Option('--reason <text>', help).makeOptionMandatory();
export const by = () => new Option('--by <name>', 'who decides (default: your user name and host)');

/** @param what is let off, in the help */
export function addOverrideOptions(command: Command, what = 'run'): Command {
  return command
    .addOption(
      new Option(
        '--override-freeze <name>',
        `let the ${what} off this freeze or window, named as in \`belay freezes\` (repeatable); requires --reason`,
      ).argParser((text: string, before: string[] = []) => [...before, parseId(text)]),
    )
    .option('--reason <text>', 'why, with --override-freeze; recorded with your name');
}

/** @throws BelayError if one is given without the other */
export function overrideOf({ overrideFreeze, reason: why }: OverrideOptions): { override?: FreezeOverride } {
  if (overrideFreeze === undefined && why === undefined) return {};
  if (overrideFreeze === undefined) throw new BelayError('Usage', '--reason requires --override-freeze');
  if (why === undefined) throw new BelayError('Usage', '--override-freeze requires --reason');
  return { override: { freezes: overrideFreeze, reason: why } };
}

export interface OverrideOptions {
  overrideFreeze?: string[];
  reason?: string;
}

export const dryRun = () =>
  new Option(
    '--dry-run',
    'show what would be done, for which service, and which freezes and locks are in the way; start nothing',
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
    .addOption(new Option('--cancel-on-interrupt', `cancel the ${what} on Ctrl-C or SIGTERM`).conflicts('detach'));
}

export const follow = () =>
  new Option('--follow', 'if a newer run replaces this one, wait for that one, and exit with its verdict').conflicts(
    'detach',
  );

/** How many runs `belay list` shows without `--limit`. */
export const LIST_LIMITS = { alone: 20, withSince: 1_000 } as const;

/** How many runs and rollouts `belay top` shows, and how often it reads sites. */
export const TOP_LIMIT = 50;
export const TOP_INTERVAL_MS = 5_000;
export const interval = () =>
  new Option(
    '--interval <duration>',
    `with --site or --app: how often to read (default: ${durationText(TOP_INTERVAL_MS)})`,
  ).argParser(durationWithin([1_000, HOUR_MS]));

/** The default of the receiver. */
export const WEBHOOK_PORT = 4181;

/** For the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
