/** Schemas of HTTP headers, paths in bodies, and places of secrets in belay.yaml. */
import { parsePath } from 'dot-prop';
import { z } from 'zod';

export const headerName = z.string().regex(/^[\w-]{1,100}$/, { error: 'write the name of an HTTP header' });

export const path = z
  .string()
  .trim()
  .min(1)
  .refine(isPath, { error: 'write a path like data.server.id or items[0].id' });

/** Where a secret is; never the secret itself. */
export const secretPlace = z.union(
  [z.strictObject({ env: z.string().trim().min(1) }), z.strictObject({ file: z.string().trim().min(1) })],
  { error: 'do not write a secret or address here: write { file: PATH } or { env: NAME }' },
);

function isPath(text: string): boolean {
  try {
    return parsePath(text).length > 0;
  } catch {
    return false;
  }
}
