/** Writes `<part>.json` and the plots of a part. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine, Versions } from './machine.ts';
import type { Report } from './report.ts';

export interface Circumstances {
  part: string;
  isQuick: boolean;
  startedAt: string;
  tookS: number;
  /** Average load of the machine before and after. */
  load: readonly [before: number, after: number];
  machine: Machine;
  versions: Versions;
}

/** @returns the paths of the files */
export async function writeReport(
  folder: string,
  circumstances: Circumstances,
  { plan, figures, rounds, plots = {}, notes = [] }: Report,
): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const { part } = circumstances;
  const document = { ...circumstances, plan, notes, figures, rounds };
  const files = {
    [`${part}.json`]: `${JSON.stringify(document, null, 2)}\n`,
    ...Object.fromEntries(Object.entries(plots).map(([name, svg]) => [`${part}-${name}.svg`, svg])),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return Object.keys(files).map((name) => join(folder, name));
}
