/** What the bundles of the build and of the current source have in common. */
import { join } from 'node:path';
import { DefaultLogger, type bundleWorkflowCode } from '@temporalio/worker';

/** @param folder of the workflows */
export const bundleOptions = (folder: string, ending: 'ts' | 'js'): Parameters<typeof bundleWorkflowCode>[0] => ({
  workflowsPath: join(folder, `index.${ending}`),
  preloadModules: ['without-stack-traces', 'index'].map((name) => join(folder, `${name}.${ending}`)),
  failureConverterPath: join(folder, `../worker/bundle/failure-converter.${ending}`),
  logger: new DefaultLogger('WARN'),
});
