/** How help is arranged: options in groups, short forms, and the table of environment variables. */
import type { Command, Help, Option } from 'commander';
import { VARIABLE_SECTIONS, VARIABLES } from '../config/environment/variables.ts';

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
