/** Before the tests: has the Temporal server built where there is none yet, so that no test waits for it. */
import { cacheFolder, childEnvironment } from '../../src/config/environment/environment.ts';
import { downloadBySdk } from '../../src/dev/download-server.ts';
import { findExecutable } from '../../src/dev/find-server.ts';
import { showBuild } from '../../src/dev/build-progress.ts';

const progress = showBuild(process.stderr);
await findExecutable({
  cacheFolder: cacheFolder(),
  env: childEnvironment(),
  say: (line) => process.stderr.write(`${line}\n`),
  onBuild: (built) => progress.show(built),
  download: downloadBySdk,
});
progress.end();
