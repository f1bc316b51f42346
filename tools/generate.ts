/** Writes the JSON Schemas in docs/, and the pages of docs/reference that are made from the code: `npm run generate`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { commandLinePage } from './docs/command-line.ts';
import { costPage } from './docs/cost.ts';
import { environmentPage } from './docs/environment.ts';
import { libraryPage } from './docs/library.ts';
import { jsonSchemaOf, SCHEMAS } from './schemas.ts';

const GENERATED: Record<string, () => string | Promise<string>> = {
  ...Object.fromEntries(
    Object.entries(SCHEMAS).map(([name, schema]) => [name, () => JSON.stringify(jsonSchemaOf(schema))]),
  ),
  'reference/cli.md': commandLinePage,
  'reference/cost.md': costPage,
  'reference/environment.md': environmentPage,
  'reference/library.md': libraryPage,
};

/** The files, formatted like the rest of the repository. */
export const FILES = Object.entries(GENERATED).map(([name, make]) => {
  const path = fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
  const text = async () => format(await make(), { ...(await resolveConfig(path)), filepath: path });
  return { name: `docs/${name}`, path, text };
});

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { path, text } of FILES) await writeFile(path, await text());
