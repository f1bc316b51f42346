/** Temporal as its samples and documents use it, with the defaults of the SDK, on a server of its own. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { intervalMs, isFinal, post, serve, tries } from './peer.js';

/** Fails as long as the status is not final, so that the server calls it again after the interval. */
async function untilFinal(siteId) {
  if (await isFinal(siteId)) return;
  throw ApplicationFailure.create({ message: 'in progress', nextRetryDelay: intervalMs });
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const { TEMPORAL_ADDRESS: address, WORKFLOW: workflow } = process.env;
const taskQueue = 'peer';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./temporal-workflows.js', import.meta.url)),
  activities: { post, isFinal, untilFinal },
});
void worker.run();
const client = new Client({ connection: await Connection.connect({ address }) });
serve((siteId) =>
  client.workflow.start(workflow, { taskQueue, workflowId: siteId, args: [siteId, intervalMs, tries] }),
);
