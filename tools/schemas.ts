/** The JSON Schemas in docs/. */
import { z } from 'zod';
import { configurationSchema } from '../src/config/file/file-schema.ts';
import { rolloutResult } from './schemas/rollout-result.ts';
import { runInput } from '../src/request/input/run-input.ts';
import { runResult } from './schemas/run-result.ts';

export { runInput, runResult };

export const SCHEMAS = {
  'run-input.schema.json': runInput,
  'run-result.schema.json': runResult,
  'rollout-result.schema.json': rolloutResult,
  'belay.schema.json': configurationSchema,
} as const;

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
