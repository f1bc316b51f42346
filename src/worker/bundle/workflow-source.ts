/** The workflow code a worker loads: the bundle of the build, or one of the current source if run from source. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { VERSIONED_WORKER } from '../../contract/worker-identity.ts';
import { ENCODES_FAILURES } from './failure-converter.ts';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

export async function workflowBundle(): Promise<{ codePath: string }> {
  if (!RUNS_FROM_SOURCE) return { codePath: fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)) };
  // Only here: a worker in production never bundles.
  const { bundleFromSource } = await import('./bundle-from-source.ts');
  return { codePath: await bundleFromSource() };
}

/** What the code that a worker loads has to know of it. */
interface WorkerTraits {
  /** Messages and stacks of failures become payloads, for a codec. */
  encodesFailures: boolean;
  isVersioned: boolean;
}

/** The same code for such a worker. The sandbox of workflow code has no environment, but it has global variables. */
export async function bundleFor<B extends { codePath: string }>(
  bundle: B,
  { encodesFailures, isVersioned }: WorkerTraits,
): Promise<B | { code: string }> {
  const traits = [...(encodesFailures ? [ENCODES_FAILURES] : []), ...(isVersioned ? [VERSIONED_WORKER] : [])];
  if (traits.length === 0) return bundle;
  // On the first line, so that the lines of stack traces stay right.
  const globals = traits.map((name) => `globalThis.${name} = true; `).join('');
  return { code: globals + (await readFile(bundle.codePath, 'utf8')) };
}
