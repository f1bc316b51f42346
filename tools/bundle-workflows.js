/** Bundles the workflows into dist/workflow-bundle.js during the build, so that workers start without bundling. */
import { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const inDist = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));

const { bundleOptions } = await import(inDist('worker/bundle/bundle-from-source.js'));
const { code } = await bundleWorkflowCode(bundleOptions(inDist('workflows'), 'js'));
// The SDK insists on a map, and on its "file" where it gets the code itself: a worker that encrypts or is versioned. Its
// own map names files of this machine, and workflows report no stack traces.
const withoutMap = code.slice(0, code.lastIndexOf('//# sourceMappingURL=data:'));
const noMap = Buffer.from('{"version":3,"file":"workflow-bundle.js","sources":[],"names":[],"mappings":""}').toString(
  'base64',
);
writeFileSync(
  inDist('workflow-bundle.js'),
  `${withoutMap}//# sourceMappingURL=data:application/json;base64,${noMap}\n`,
);
