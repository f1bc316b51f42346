/** The options that commands share, and what may stand in them. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { DEFAULTS, MAX_TRIES, problemOfId } from '../input.ts';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `500ms`, `10s`, `2m`, `1h`, or a bare number of seconds, as milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  const ms = match === null ? NaN : Number(match[1]) * UNIT_MS[(match[2] ?? 's') as keyof typeof UNIT_MS];
  if (Number.isSafeInteger(Math.round(ms))) return Math.round(ms);
  throw new InvalidArgumentError(`"${text}" is no duration: write 500ms, 10s, 2m or 1h; a bare number is seconds.`);
}

export function parseInterval(text: string): number {
  const ms = parseDuration(text);
  if (ms >= 10) return ms;
  throw new InvalidArgumentError(`"${text}" is too short: at least 10ms.`);
}

export function parseTries(text: string): number {
  const tries = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (tries >= 1 && tries <= MAX_TRIES) return tries;
  throw new InvalidArgumentError(`"${text}" is no number of tries: write a whole number from 1 to ${MAX_TRIES}.`);
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError(`"${text}" is no port: write a number from 0 to 65535; 0 is any free one.`);
}

export function parseId(text: string): string {
  const problem = problemOfId(text);
  if (problem === null) return text;
  throw new InvalidArgumentError(`The id ${problem}. Ids appear in the dashboard's URLs.`);
}

/** For an option that may be given several times. */
export function collectIds(text: string, before: string[] = []): string[] {
  const id = parseId(text);
  if (before.includes(id)) throw new InvalidArgumentError(`"${id}" is named twice.`);
  return [...before, id];
}

export const json = () => new Option('--json', 'print exactly one JSON document on stdout');
export const detach = () => new Option('--detach', 'start the run and exit; `belay wait` gives the verdict');
export const runId = () => new Option('--run-id <id>', 'this run of the workflow id, not the latest one');
export const server = () =>
  new Option('--server <id>', 'the server to back up').argParser(parseId).makeOptionMandatory();
export const sites = () =>
  new Option('--site <id>', 'a site to deploy; several are deployed in the order given')
    .argParser(collectIds)
    .makeOptionMandatory();

export function addBackupOptions(command: Command): Command {
  const { intervalMs, tries } = DEFAULTS.backup;
  return command
    .option(
      '--backup-interval <duration>',
      `read the backup's status this often (${seconds(intervalMs)})`,
      parseInterval,
    )
    .option('--backup-tries <n>', `and at most this often (${tries})`, parseTries);
}

export function addDeployOptions(command: Command): Command {
  const { intervalMs, tries } = DEFAULTS.deploy;
  return command
    .option(
      '--deploy-interval <duration>',
      `read the deployment's status this often (${seconds(intervalMs)})`,
      parseInterval,
    )
    .option('--deploy-tries <n>', `and at most this often (${tries})`, parseTries);
}

function seconds(ms: number): string {
  return `default ${ms / 1000}s`;
}
