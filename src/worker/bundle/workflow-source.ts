/** The workflow code a worker loads: the bundle of the build, or one of the current source if run from source. */
import { fileURLToPath } from 'node:url';

const RUNS_FROM_SOURCE = import.meta.url.endsWith('.ts');

export async function workflowBundle(): Promise<{ codePath: string }> {
  if (!RUNS_FROM_SOURCE) return { codePath: fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)) };
  // Only here: a worker in production never bundles.
  const { bundleFromSource } = await import('./bundle-from-source.ts');
  return { codePath: await bundleFromSource() };
}
