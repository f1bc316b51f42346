/** DBOS: steps as rows of PostgreSQL, and a durable sleep. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { intervalMs, isFinal, post, serve, tries } from './peer.js';

DBOS.setConfig({
  name: 'waiter',
  systemDatabaseUrl: process.env.POSTGRES_URL,
  logLevel: 'error',
  runAdminServer: false,
});
const wait = DBOS.registerWorkflow(
  async (siteId) => {
    await DBOS.runStep(() => post(siteId), { name: 'post' });
    for (let made = 0; made < tries; made += 1) {
      await DBOS.sleep(intervalMs);
      if (await DBOS.runStep(() => isFinal(siteId), { name: 'read' })) return 'final';
    }
    return 'timed out';
  },
  { name: 'wait' },
);
await DBOS.launch();
serve((siteId) => DBOS.startWorkflow(wait)(siteId));
