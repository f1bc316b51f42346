/** What belay.yaml expects of a page, and the headers to ask it with. */
import { z } from 'zod';
import { parsePath } from 'dot-prop';
import { compileCheck, type CheckRules } from '../../site-check/index.ts';
import { AS_WRITTEN, KEPT, oneOrMore } from './schema-values.ts';
import { secretSource, type SecretRef } from '../environment/secrets.ts';

/* Schemas of HTTP headers, paths in bodies, and places of secrets in belay.yaml. */

export const headerName = z.string().regex(/^[\w-]{1,100}$/, { error: 'write the name of an HTTP header' });

export const path = z
  .string()
  .trim()
  .min(1)
  .refine(isPath, { error: 'write a path like data.server.id or items[0].id' });

export const NO_PLACE = 'do not write a secret or address here: write { file: PATH } or { env: NAME }';

/** Where a secret is; never the secret itself. */
export const secretPlace = z.union(
  [z.strictObject({ env: z.string().trim().min(1) }), z.strictObject({ file: z.string().trim().min(1) })],
  { error: NO_PLACE },
);

function isPath(text: string): boolean {
  try {
    return parsePath(text).length > 0;
  } catch {
    return false;
  }
}

const scalar = z
  .union([z.string(), z.number(), z.boolean()], { error: 'write a text, a number, or a regular expression in slashes' })
  .transform(String)
  .register(AS_WRITTEN, KEPT);

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
  json: z
    .record(path, scalar)
    .describe('Paths in the JSON body and their values, compared as text: a number as the page writes it.')
    .optional(),
};

const headerError = 'write a text of one line, { file: PATH } or { env: NAME }';
const headerValue = z.union([z.string().regex(/^[^\r\n]+$/, { error: headerError }), secretPlace], {
  error: headerError,
});

export const requestHeaders = z.record(headerName, headerValue).describe('Headers of the request.').optional();

/** Reports an expression that cannot be used. */
export function refuseBrokenRules(rules: CheckRules, context: z.RefinementCtx): void {
  try {
    compileCheck(rules);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    context.addIssue(`an expression cannot be used: ${error.message}`);
  }
}

/* Headers of requests that belay.yaml describes. */

/**
 * Each call reads the secrets again.
 * @param key of the configuration file, for errors
 * @throws ConfigError now or later if one is missing. It names the place only.
 */
export function headersSource(
  key: string,
  headers: Readonly<Record<string, string | SecretRef>>,
): () => Promise<Record<string, string>> {
  const sources = Object.entries(headers).map(([header, value]): [string, () => Promise<string>] => [
    header,
    typeof value === 'string' ? () => Promise.resolve(value) : secretSource(`${key}.${header}`, value),
  ]);
  return async () =>
    Object.fromEntries(await Promise.all(sources.map(async ([header, read]) => [header, await read()] as const)));
}
