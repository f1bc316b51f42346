import type { Waits } from '../../src/contract/run.ts';
import { openStack } from '../load/belay-stack.ts';
import type { Way } from './way.ts';

/** @param name two of them show how much two measurements of one thing differ */
export const belayWay = (name: string, waits: Waits = 'loop'): Way => ({
  name,
  lacks: '',
  async open(service, { intervalMs, tries }) {
    const { belay, serverPid, workerPid } = await openStack(service);
    return {
      begin: (siteId) => belay.start({ siteIds: [siteId], waits, deploy: { intervalMs, tries } }),
      pids: () => [serverPid, workerPid],
    };
  },
});
