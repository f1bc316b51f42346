/** What belay.yaml expects of a page, and the headers to ask it with. */
import { z } from 'zod';
import { compileCheck, type CheckRules } from '../../site-check/index.ts';
import { oneOrMore } from './schema-values.ts';
import { headerName, path, secretPlace } from './secret-schema.ts';

const scalar = z
  .union([z.string(), z.number(), z.boolean()], { error: 'write a text, a number, or a regular expression in slashes' })
  .transform(String);

const statusError = 'write a status like 200, a class like 2xx, or a list of them';
const status = z
  .union([z.number(), z.string()], { error: statusError })
  .transform(String)
  .refine((text) => /^[1-5](\d\d|xx)$/.test(text), { error: statusError });

export const expectations = {
  status: oneOrMore(status, statusError).describe('Any of these; default 2xx.').optional(),
  header: z
    .record(headerName, scalar)
    .describe('Headers and their values: a text, /an expression/, or !not either of them.')
    .optional(),
  body: z
    .union([z.string().min(1), z.strictObject({ not: z.string().min(1) })], {
      error: 'write a text or /an expression/, or { not: … }',
    })
    .describe('What the body contains.')
    .optional(),
  json: z.record(path, scalar).describe('Paths in the JSON body and their values, compared as text.').optional(),
};

const headerError = 'write a text of one line, { file: PATH } or { env: NAME }';
const headerValue = z.union([z.string().regex(/^[^\r\n]+$/, { error: headerError }), secretPlace], {
  error: headerError,
});

export const requestHeaders = z.record(headerName, headerValue).describe('Headers of the request.').optional();

/** Reports an expression that cannot be used. */
export function refuseBroken(rules: CheckRules, context: z.RefinementCtx): void {
  try {
    compileCheck(rules);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    context.addIssue(`an expression cannot be used: ${error.message}`);
  }
}
