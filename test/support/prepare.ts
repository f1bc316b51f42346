/** Runs before the tests: builds stale output and a missing Temporal server, so that no test waits for them. */
import { buildEnvironment, cacheFolder } from '../../src/config/environment/environment.ts';
import { downloadBySdk } from '../../src/dev/download-server.ts';
import { findExecutable } from '../../src/dev/find-server.ts';
import { showBuild } from '../../src/dev/build-progress.ts';
import { workflowBundle } from '../../src/worker/bundle/workflow-source.ts';
import { buildIfStale } from '../../tools/build.ts';

buildIfStale();
// Bundles the workflows now: test processes that start together would each bundle them.
await workflowBundle();

const progress = showBuild(process.stderr);
await findExecutable({
  cacheFolder: cacheFolder(),
  env: buildEnvironment(),
  say: (line) => process.stderr.write(`${line}\n`),
  onBuild: (built) => progress.show(built),
  download: downloadBySdk,
});
progress.end();
