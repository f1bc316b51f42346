/** The options that commands share. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { EVIDENCE } from '../../contract/run.ts';
import { DEFAULTS, LIMITS } from '../../request/validate-run-input.ts';
import { collectIds, collectMeta, durationWithin, parseId, parseTries, parseWritable, TIMER_LIMITS } from './parse-values.ts';

export const json = () => new Option('--json', 'print exactly one JSON document on stdout');
export const summary = () =>
  new Option('--summary <file>', 'add the result in Markdown to this file, for the page of a CI job').argParser(
    parseWritable,
  );
export const runId = () => new Option('--run-id <id>', 'this run of the workflow id, not the latest one');
export const server = () =>
  new Option('--server <id>', 'the server to back up').argParser(parseId).makeOptionMandatory();
export const sites = () =>
  new Option('--site <id>', 'a site to deploy; several are deployed in the order given')
    .argParser(collectIds)
    .makeOptionMandatory();
export const oneSite = () =>
  new Option('--site <id>', 'the site whose deployment to follow')
    .argParser((text, before: string[] | undefined) => {
      if (before !== undefined) throw new InvalidArgumentError('One site is followed at a time.');
      return [parseId(text)];
    })
    .makeOptionMandatory();

/** How often a status is read, and how many times. */
function addPace(command: Command, of: 'backup' | 'deploy', what: string): Command {
  const { intervalMs, tries } = DEFAULTS[of];
  return command
    .option(
      `--${of}-interval <duration>`,
      `read the ${what}'s status this often (default ${intervalMs / 1000}s)`,
      durationWithin(LIMITS.intervalMs),
    )
    .option(`--${of}-tries <n>`, `and at most so many times (default ${tries})`, parseTries);
}

export function addBackupOptions(command: Command): Command {
  return addPace(command, 'backup', 'backup')
    .option(
      '--max-backup-age <duration>',
      'take a completed backup that began at most so long ago',
      durationWithin(LIMITS.durationMs),
    )
    .addOption(
      new Option('--backup-id <id>', 'rest on this backup, made or in the making')
        .argParser(parseId)
        .conflicts('maxBackupAge'),
    );
}

export function addVerdictOptions(command: Command): Command {
  return addPace(command, 'deploy', 'deployment')
    .option(
      '--settle <duration>',
      'after this long the same final status as before is believed (default six intervals, at least 10s)',
      durationWithin(LIMITS.durationMs),
    )
    .addOption(new Option('--min-evidence <kind>', 'call anything weaker unknown (default settled)').choices(EVIDENCE));
}

export function addDeployOptions(command: Command): Command {
  return addVerdictOptions(command)
    .option(
      '--baseline-wait <duration>',
      "wait so long for somebody else's deployment to end (default interval times tries)",
      durationWithin(LIMITS.durationMs),
    )
    .addOption(
      new Option(
        '--on-ambiguous <what>',
        'when a request may have been lost and left no trace (default resend)',
      ).choices(['resend', 'stop']),
    )
    .option('--keep-going', 'go on with the next site when one is not completed');
}

export function addBusyOptions(command: Command): Command {
  return command
    .addOption(new Option('--if-busy <what>', 'while another run is at it (default wait)').choices(['wait', 'fail']))
    .option(
      '--busy-timeout <duration>',
      'wait for it at most so long (default 30m)',
      durationWithin(LIMITS.busyTimeoutMs),
    );
}

export function addRunOptions(command: Command): Command {
  return command
    .option('--key <key>', 'the same key is the same run: in flight join it, closed give its result', parseId)
    .option('--again', 'with --key: when that run is closed and not completed, start anew')
    .option('--heartbeat <name>', "call this address of the worker's belay.yaml when the run is completed", parseId)
    .option('--meta <name=value>', 'a note that goes into the result; several may be given', collectMeta)
    .option(
      '--start-within <duration>',
      'do not begin when no worker takes the run up in time (default 10m)',
      durationWithin(LIMITS.startWithinMs),
    )
    .option('--detach', 'start the run and exit; `belay wait` gives the verdict');
}

export function addWaitOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--wait-timeout <duration>', 'stop waiting after this long; the run goes on')
        .argParser(durationWithin(TIMER_LIMITS))
        .conflicts('detach'),
    )
    .addOption(summary().conflicts('detach'))
    .addOption(new Option('--cancel-on-interrupt', 'on Ctrl-C or SIGTERM cancel the run, too').conflicts('detach'));
}

/** For the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
