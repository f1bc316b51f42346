/** What a part of the benchmark measured. */

export interface Report {
  /** What was asked for: sizes, intervals, rounds. */
  plan: object;
  /** What the tables and plots show. */
  figures: object;
  /** What was measured in each round. */
  rounds: readonly object[];
  tables: readonly Table[];
  /** SVG by name. */
  plots?: Record<string, string>;
  /** What a reader has to know about these figures. */
  notes?: readonly string[];
}

export interface Table {
  title: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** As Markdown with columns that line up. */
export function tableText({ title, head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`${title}:`, '', line(head), rule, ...rows.map(line)].join('\n');
}
