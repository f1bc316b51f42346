/** What `belay init` and `belay config check` do: they begin belay.yaml, and check it on this machine alone. */
import { writeFile } from 'node:fs/promises';
import { configFile, isGithubActions } from '../config/environment/environment.ts';
import { readConfiguration, remedyOfMissing } from '../config/load.ts';
import { SCHEMA_VERSION } from '../contract/names.ts';
import { BelayError, EXIT } from '../contract/errors.ts';
import { withOwnCommand } from '../process/own-command.ts';
import { printAnswer, printJson } from '../process/json-document.ts';
import { print, printAnnotation, printNote } from '../process/print.ts';

/** In lines that begin with one `#`, examples; in others, what they mean. Without the `#`, the examples are valid. */
export const EXAMPLE_FILE = `## The configuration of Belay. Remove the # before what you need.
## docs/reference/belay-yaml.md in the package lists every key, and docs/belay.schema.json is for editors.
## Check it with ${withOwnCommand('`belay config check`')}.
## It holds no secrets: a secret is named by the variable or file that has it, such as { env: NAME }.

## The service that runs are for, if starters do not set BELAY_SERVICE.
#service: https://panel.example.com

## What belongs together: servers by their ids, with their sites. A worker refuses a site on another server.
#fleets:
#  shop:
#    servers:
#      12: { sites: [34, 35], labels: { tier: canary } }
#      13: { sites: [36] }

## How a fleet is deployed, wave by wave: belay rollout start steady
#rollouts:
#  steady:
#    fleet: shop
#    waves:
#      - { name: canary, labels: { tier: canary } }
#    maxAtOnce: 10
#    maxFailures: 3%
#    backup: { maxAge: 1h }

## What starts by itself: belay schedule apply
#schedules:
#  nightly:
#    start: { rollout: steady }
#    cron: '30 2 * * *'
#    timeZone: Europe/Berlin

## When nothing is deployed.
#freezes:
#  holidays:
#    from: 2026-12-24T00:00
#    to: 2026-12-27T00:00
#    timeZone: Europe/Berlin
#    reason: no one is in the office
`;

export async function init(file: string | undefined, options: { force?: boolean; json?: boolean }): Promise<void> {
  const path = file ?? configFile().path;
  await writeFile(path, EXAMPLE_FILE, { flag: options.force === true ? 'w' : 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      const isThere = error.code === 'EEXIST';
      const problem = isThere ? 'is there already' : `cannot be written (${error.code ?? 'unknown error'})`;
      const remedy = isThere ? '--force replaces it' : 'name a file in a folder that exists';
      throw new BelayError('Usage', `${path} ${problem}: ${remedy}`);
    },
  );
  const next = 'Remove the # before what you need, then check it: `belay config check`';
  printAnswer(options.json, { file: path }, `Wrote ${path}. ${next}`);
}

export async function check(file: string | undefined, options: { json?: boolean }): Promise<void> {
  const path = file ?? configFile().path;
  const remedy = file === undefined ? remedyOfMissing() : 'name a file that exists and can be read';
  const mistake = await mistakeIn(path, remedy);
  const error = mistake === null ? null : { type: 'Usage', message: mistake.message };
  if (mistake !== null) {
    process.exitCode = EXIT.usage;
    if (isGithubActions()) printAnnotation({ file: path, line: mistake.line }, mistake.message);
    if (options.json !== true) printNote(`belay: ${mistake.message}`);
  }
  if (options.json === true)
    printJson({ schemaVersion: SCHEMA_VERSION, file: path, line: mistake?.line ?? null, error });
  else if (mistake === null) print(`${path} is valid`);
}

/** The first mistake, and its line if the file could be read. */
async function mistakeIn(path: string, remedy: string): Promise<{ message: string; line: number | null } | null> {
  try {
    await readConfiguration({ path, isNamed: true }, remedy);
    return null;
  } catch (error) {
    if (!(error instanceof BelayError)) throw error;
    const { message } = error;
    const line = message.startsWith(`${path}:`) ? /^\d+(?=: )/.exec(message.slice(path.length + 1))?.[0] : undefined;
    return { message, line: line === undefined ? null : Number(line) };
  }
}
