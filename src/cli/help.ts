/** How help is arranged: commands and options in groups, short forms, and the table of environment variables. */
import type { Command, Help, Option } from 'commander';
import { VARIABLE_SECTIONS, VARIABLES } from '../config/environment/variables.ts';

/** Every command in its group of `belay --help`, with a summary that fits on one line of 80 columns. */
const COMMAND_GROUPS: Record<string, Record<string, string>> = {
  'Run:': {
    run: 'back up a server, then deploy sites and apps',
    backup: 'back up a server',
    deploy: 'deploy sites and apps without a backup',
    watch: 'follow a deployment that something else starts',
    wait: 'wait for the verdict of a run or rollout',
    cancel: 'cancel a run, or stop a rollout',
  },
  'Look:': {
    status: 'show a run or rollout, and what it is waiting for',
    list: 'list runs',
    top: 'show what is in flight, or what the service reports',
    advice: 'show how long operations take, and whether tries suffice',
    events: 'list the events received by webhook',
    receipt: 'print what is known of a closed run, to keep it',
  },
  'Fleets:': {
    rollout: 'back up and deploy a fleet, wave by wave',
    schedule: 'create, update and manage schedules',
  },
  'Policy:': {
    freeze: 'hold back deployments from now on',
    thaw: 'end a freeze',
    freezes: 'list freezes and windows',
    approve: 'approve what a run or rollout asks',
    reject: 'reject what a run or rollout asks',
    approvals: 'list what waits for an approval',
    check: 'try the check of a site',
    gates: 'try a gate of a rollout',
  },
  'Programs:': {
    demo: 'show one run from start to end, on this machine',
    dev: 'run everything on one machine, for development',
    worker: 'execute runs; only the worker needs the API token',
    webhooks: 'receive webhooks from the hosting service',
    board: 'show the fleet on a web page, read-only',
    'codec-server': 'decrypt payloads for the Temporal UI and CLI',
    sandbox: 'emulate the hosting service',
  },
  'Set up:': {
    init: 'write a belay.yaml to begin with',
    config: 'check belay.yaml, also in a pull request',
    doctor: 'check what this machine needs, with remedies',
    complete: 'print the script that completes commands on TAB',
  },
};

const LAST_GROUP = 'Set up:';

/** The options of commands that start something: what CI needs comes first. */
const OPTION_GROUPS: Record<string, readonly string[]> = {
  'What to do:': ['--server', '--site', '--app', '--commit', '--or-newer', '--backup-id', '--max-backup-age'],
  'In CI:': [
    ...['--key', '--again', '--json', '--summary', '--meta', '--detach', '--wait-timeout', '--cancel-on-interrupt'],
    ...['--dry-run', '--supersede', '--follow', '--heartbeat', '--service'],
  ],
  'What may hold it back:': [
    ...['--if-busy', '--busy-timeout', '--if-frozen', '--freeze-wait', '--approval'],
    ...['--override-freeze', '--no-check', '--reason'],
  ],
  'Deadlines:': [
    ...['--start-within', '--start-deploys-within', '--max-backup-age-at-deploy', '--baseline-wait'],
    '--outage-budget',
  ],
  'Reading the status:': [
    ...['--backup-interval', '--backup-tries', '--deploy-interval', '--deploy-tries', '--settle', '--min-evidence'],
    ...['--keep-going', '--on-ambiguous', '--polling', '--waits'],
  ],
};

/** `--json` has none: a failure looks for it among the arguments as it is written. */
const SHORT_FORMS: Record<string, string> = {
  '--server': '-S',
  '--site': '-s',
  '--app': '-a',
  '--commit': '-c',
  '--key': '-k',
  '--meta': '-m',
  '--detach': '-d',
  '--dry-run': '-n',
};

/** Call it before completion is added, which reads the options. */
export function addShortForms(command: Command): void {
  for (const option of command.options) {
    const short = SHORT_FORMS[option.long ?? ''];
    if (short === undefined) continue;
    option.short = short;
    option.flags = `${short}, ${option.flags}`;
  }
}

/** Sorts the options of a command that starts something. */
export function groupOptions(command: Command): void {
  const startsSomething = command.options.some(({ long }) => long === '--meta');
  if (!startsSomething) return;
  const order = Object.values(OPTION_GROUPS).flat();
  const place = ({ long }: Option) => order.indexOf(long ?? '');
  (command.options as Option[]).sort((a, b) => place(a) - place(b));
  for (const option of command.options) {
    const [heading] = Object.entries(OPTION_GROUPS).find(([, names]) => names.includes(option.long ?? '')) ?? [];
    if (heading !== undefined) option.helpGroup(heading);
  }
}

/** Sorts the commands of `belay`. Call it once all are added. */
export function groupCommands(belay: Command): void {
  const order = Object.values(COMMAND_GROUPS).flatMap((it) => Object.keys(it));
  const place = (command: Command) => order.indexOf(command.name());
  (belay.commands as Command[]).sort((a, b) => place(a) - place(b));
  for (const [heading, summaries] of Object.entries(COMMAND_GROUPS)) {
    for (const command of belay.commands) {
      const summary = summaries[command.name()];
      if (summary !== undefined) command.helpGroup(heading).summary(summary);
    }
  }
  belay
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .commandsGroup(LAST_GROUP)
    .helpCommand('help [command]', 'help on a command; `belay help environment`: the variables');
}

/** The table of environment variables. */
export function environmentHelp(help: Help): string {
  const width = Math.max(...VARIABLES.map(({ name }) => name.length));
  const sections = Object.entries(VARIABLE_SECTIONS).map(([section, title]) => {
    const rows = VARIABLES.filter((it) => it.section === section).map((row) =>
      help.formatItem(row.name, width, plain(`${row.meaning}${defaultText(row)}`), help),
    );
    return `${plain(title)}:\n${rows.join('\n')}\n`;
  });
  return sections.join('\n');
}

function defaultText(row: (typeof VARIABLES)[number]): string {
  if ('default' in row) return ` (default: ${row.default})`;
  return 'fallback' in row ? ` (default: ${row.fallback})` : '';
}

/** A terminal shows no Markdown. */
const plain = (markdown: string): string => markdown.replaceAll('`', '');
