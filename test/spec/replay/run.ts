/**
 * Replays traces of a module in docs/spec with the workflows, in the simulator. test/spec/run.ts starts it.
 * `node --import ./tools/typescript.js test/spec/replay/run.ts --main siteLock --traces FOLDER [--first] [--only N]`
 */
import { parseArgs } from 'node:util';
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import { openSandboxes } from '../../sim/core/sdk.ts';
import type { DeploymentState } from './deployment-model.ts';
import { readTraces } from './itf.ts';
import type { LockState } from './lock-model.ts';
import { replayDeployment } from './replay-deployment.ts';
import { replayLock } from './replay-lock.ts';
import { Divergence } from './stage.ts';

const { values } = parseArgs({
  options: {
    main: { type: 'string', default: 'siteLock' },
    traces: { type: 'string', default: '.' },
    /** Ends with the first divergence. */
    first: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const { main, traces, first, only } = values;
const sandboxes = await openSandboxes(await bundleFromSource());
const replays = main.endsWith('Lock')
  ? readTraces<LockState>(traces).map((steps) => () => replayLock(sandboxes, steps, main === 'serverLock'))
  : readTraces<DeploymentState>(traces).map((steps) => () => replayDeployment(sandboxes, steps));
let found = 0;
for (const [index, replay] of replays.entries()) {
  if (only !== undefined && Number(only) !== index) continue;
  try {
    await replay();
  } catch (error) {
    if (!(error instanceof Divergence)) throw error;
    found += 1;
    process.stdout.write(`${main}, trace ${index}: ${error.message}\n`);
    if (first) break;
  }
}
await sandboxes.close();
process.exitCode = found === 0 ? 0 : 1;
