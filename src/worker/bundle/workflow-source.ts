/** The workflow code a worker loads: the bundle of the build, or one of the current source if run from source. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ENCODES_FAILURES } from './failure-converter.ts';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

export async function workflowBundle(): Promise<{ codePath: string }> {
  if (!RUNS_FROM_SOURCE) return { codePath: fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)) };
  // Only here: a worker in production never bundles.
  const { bundleFromSource } = await import('./bundle-from-source.ts');
  return { codePath: await bundleFromSource() };
}

/** The same code for a worker that encrypts: messages and stacks of failures become payloads. */
export const encodingFailures = async ({ codePath }: { codePath: string }): Promise<{ code: string }> => ({
  // On the first line, so that the lines of stack traces stay right.
  code: `globalThis.${ENCODES_FAILURES} = true; ${await readFile(codePath, 'utf8')}`,
});
