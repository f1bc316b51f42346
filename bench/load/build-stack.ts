/** A build of Belay as `belay dev` starts it, with the settings that this build gives to Temporal and to its worker. */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { connect } from '../../src/starter.ts';
import { eventually } from '../../test/support/eventually.ts';
import { commandOf, descendants, gone } from '../../test/support/process-tree.ts';
import { startDevOf } from '../../test/support/processes.ts';
import { tempFolder } from '../../test/support/temporal.ts';
import type { Service } from '../service/start-service.ts';
import type { BelayStack } from './belay-stack.ts';

/** @param checkout a folder that holds a `dist/` */
export async function openBuild(checkout: string, { url, token }: Pick<Service, 'url' | 'token'>): Promise<BelayStack> {
  const dist = resolve(checkout, 'dist');
  const env = { BELAY_HOME: await tempFolder(), BELAY_API_URL: url, BELAY_API_TOKEN: token };
  const dev = await startDevOf(join(dist, 'cli.js'), env, '--webhook-port', '0');
  const workerPid = dev.process.pid!;
  // The process that guards the server has the same arguments, and the server is its child.
  const isServer = (pid: number) => commandOf(pid).includes('start-dev');
  const serverPid = await eventually('its Temporal server', () => descendants(workerPid).find(isServer));
  const starter = (await import(pathToFileURL(join(dist, 'starter.js')).href)) as { connect: typeof connect };
  const belay = await starter.connect({ address: dev.ready.temporal });
  return {
    ...{ belay, serverPid, workerPid },
    async close() {
      await belay.close();
      const all = [workerPid, ...descendants(workerPid)];
      dev.process.kill('SIGKILL');
      await gone(all);
    },
  };
}
