/**
 * Finds the workflow code that a worker loads: the bundle of the build, or a bundle of the current source if run from
 * source.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { VERSIONED_WORKER } from '../../contract/worker-identity.ts';
import { ENCODES_FAILURES } from './failure-converter.ts';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

export async function workflowBundle(): Promise<{ codePath: string }> {
  if (!RUNS_FROM_SOURCE) return { codePath: fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)) };
  // Imported here, because a worker in production never bundles.
  const { bundleFromSource } = await import('./bundle-from-source.ts');
  return { codePath: await bundleFromSource() };
}

/** What the bundled code has to know about its worker. */
interface WorkerTraits {
  /** True if a codec is to see messages and stacks of failures as payloads. */
  encodesFailures: boolean;
  isVersioned: boolean;
}

/**
 * Returns the same code for a worker with these traits. The sandbox of workflow code has no environment, but it has
 * global variables.
 */
export async function bundleFor(
  bundle: { codePath: string },
  { encodesFailures, isVersioned }: WorkerTraits,
): Promise<{ codePath: string } | { code: string }> {
  const traits = [...(encodesFailures ? [ENCODES_FAILURES] : []), ...(isVersioned ? [VERSIONED_WORKER] : [])];
  if (traits.length === 0) return bundle;
  // Insert them on the first line, so that the lines of stack traces stay right.
  const globals = traits.map((name) => `globalThis.${name} = true; `).join('');
  return { code: globals + (await readFile(bundle.codePath, 'utf8')) };
}
