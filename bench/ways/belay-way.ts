import { connect } from '../../src/starter.ts';
import { atEnd } from '../../test/support/at-end.ts';
import { startWorkerProcess } from '../../test/support/processes.ts';
import { startTemporal } from '../../test/support/temporal.ts';
import type { Way } from './way.ts';

/** @param name two of them show how much two measurements of one thing differ */
export const belayWay = (name: string): Way => ({
  name,
  lacks: '',
  async open({ url, token }, { intervalMs, tries }) {
    const { address, pid } = await startTemporal();
    const env = { TEMPORAL_ADDRESS: address, BELAY_API_URL: url, BELAY_API_TOKEN: token };
    const worker = await startWorkerProcess(env);
    const belay = await connect({ address });
    atEnd(() => belay.close());
    return {
      begin: (siteId) => belay.start({ siteIds: [siteId], deploy: { intervalMs, tries } }),
      pids: () => [pid, worker.process.pid!],
    };
  },
});
