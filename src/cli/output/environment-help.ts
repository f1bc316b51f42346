/** The table of environment variables, as `belay --help` prints it. */
import type { Help } from 'commander';
import { SECTIONS, VARIABLES } from '../../config/environment/variables.ts';

/** For the end of the help. */
export function environmentHelp(help: Help): string {
  const width = Math.max(...VARIABLES.map(({ name }) => name.length));
  const sections = Object.entries(SECTIONS).map(([section, title]) => {
    const rows = VARIABLES.filter((it) => it.section === section).map((row) =>
      help.formatItem(row.name, width, plain(`${row.meaning}${defaultText(row)}`), help),
    );
    return `\n${plain(title)}:\n${rows.join('\n')}\n`;
  });
  return `\nEnvironment variables:\n${sections.join('')}`;
}

function defaultText(row: (typeof VARIABLES)[number]): string {
  if ('default' in row) return ` (default: ${row.default})`;
  return 'fallback' in row ? ` (default: ${row.fallback})` : '';
}

/** A terminal shows no Markdown. */
const plain = (markdown: string): string => markdown.replaceAll('`', '');
