/** Writes the pages of docs/reference that are made from the code: `npm run generate`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { commandLinePage } from './docs/command-line.ts';
import { costPage } from './docs/cost.ts';
import { environmentPage } from './docs/environment.ts';
import { libraryPage } from './docs/library.ts';

export const PAGES = {
  'cli.md': commandLinePage,
  'cost.md': costPage,
  'environment.md': environmentPage,
  'library.md': libraryPage,
} as const;

export const pathOf = (name: string) => fileURLToPath(new URL(`../docs/reference/${name}`, import.meta.url));

/** The text of a page, formatted like the rest of the repository. */
export async function pageText(name: keyof typeof PAGES): Promise<string> {
  const path = pathOf(name);
  return format(await PAGES[name](), { ...(await resolveConfig(path)), filepath: path });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(PAGES) as (keyof typeof PAGES)[]) await writeFile(pathOf(name), await pageText(name));
}
