/** Temporal as its samples use it, with the defaults of the SDK, on a server of its own. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { intervalMs, isFinal, post, serve, tries } from './peer.js';

Runtime.install({ logger: new DefaultLogger('ERROR') });
const address = process.env.TEMPORAL_ADDRESS;
const taskQueue = 'plain-loop';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./plain-loop-workflow.js', import.meta.url)),
  activities: { post, isFinal },
});
void worker.run();
const client = new Client({ connection: await Connection.connect({ address }) });
serve((siteId) =>
  client.workflow.start('plainLoop', { taskQueue, workflowId: siteId, args: [siteId, intervalMs, tries] }),
);
