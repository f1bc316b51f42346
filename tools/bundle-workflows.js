/** Bundles the workflows into dist/workflow-bundle.js: part of the build, so that workers start at once. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const inDist = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

const { code } = await bundleWorkflowCode({
  workflowsPath: inDist('workflows/index.js'),
  logger: new DefaultLogger('WARN'),
});
writeFileSync(inDist('workflow-bundle.js'), code);
