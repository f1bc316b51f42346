/** docs/reference/environment.md, from the table of variables. */
import { VARIABLE_SECTIONS, type VARIABLES } from '../../src/config/environment/variables.ts';
import { code, page, table } from './markdown.ts';

type Row = (typeof VARIABLES)[number];

export function environmentPage(): string {
  const sections = VARIABLE_SECTIONS.flatMap(({ title, rows }) => [
    `## ${title}`,
    table(
      ['variable', 'meaning', 'default'],
      rows.map((row) => [code(row.name), meaningOf(row), defaultOf(row)]),
    ),
  ]);
  return page(
    '# Environment variables',
    'A variable that is blank counts as not set. `belay help environment` prints the same table. Names of further variables can be in' +
      ' [`belay.yaml`](belay-yaml.md): there `{ env: NAME }` names the variable that holds a secret.',
    ...sections,
  );
}

const meaningOf = (row: Row): string => ('secret' in row ? `${row.meaning} A secret.` : row.meaning);

function defaultOf(row: Row): string {
  if ('default' in row) return code(row.default);
  return 'fallback' in row ? row.fallback : '–';
}
