/** Bundles the workflows into dist/workflow-bundle.js during the build, so that workers start without bundling. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const inDist = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

const { bundleOptions } = await import(inDist('worker/bundle/bundle-options.js'));
const { code } = await bundleWorkflowCode(bundleOptions(inDist('workflows'), 'js'));
writeFileSync(inDist('workflow-bundle.js'), code);
