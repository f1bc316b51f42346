/** Writes the JSON Schemas in docs/: `npm run generate`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import { configurationSchema } from '../src/config/file/file-schema.ts';
import { rolloutResult } from './schemas/rollout-result.ts';
import { runInput } from '../src/request/input/run-input.ts';
import { runResult } from './schemas/run-result.ts';

export { runInput, runResult };

export const DOCUMENTS = {
  'run-input.schema.json': runInput,
  'run-result.schema.json': runResult,
  'rollout-result.schema.json': rolloutResult,
  'belay.schema.json': configurationSchema,
} as const;

export const pathOf = (name: string) => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));

/** The published form of a schema. */
export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    // As an input schema, in which only strict objects reject additional properties.
    io: 'input',
    override: ({ jsonSchema }) => {
      // Not a limit of ours: zod adds it to every whole number.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
}

/** The text of a document, formatted like the rest of the repository. */
export async function textOf(name: keyof typeof DOCUMENTS): Promise<string> {
  const path = pathOf(name);
  const json = JSON.stringify(jsonSchemaOf(DOCUMENTS[name]));
  return format(json, { ...(await resolveConfig(path)), filepath: path });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[]) {
    await writeFile(pathOf(name), await textOf(name));
  }
}
