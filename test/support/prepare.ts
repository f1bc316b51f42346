/** Before the tests: has the Temporal server built where there is none yet, so that no test waits for it. */
import { cacheFolder, childEnvironment } from '../../src/config.ts';
import { downloadBySdk } from '../../src/dev/download.ts';
import { findExecutable } from '../../src/dev/executable.ts';
import { showBuild } from '../../src/dev/progress.ts';

const progress = showBuild(process.stderr);
await findExecutable({
  cacheFolder: cacheFolder(),
  env: childEnvironment(),
  say: (line) => process.stderr.write(`${line}\n`),
  onBuild: (built) => progress.show(built),
  download: downloadBySdk,
});
progress.end();
