/** Where histories are recorded: a real server, the sandbox, and workers in processes of their own. */
import { Client } from '@temporalio/client';
import type { RunType } from '../../src/contract/names.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect, type Belay, type Run } from '../../src/starter.ts';
import { atEnd } from '../support/at-end.ts';
import { connectTo } from '../support/connect.ts';
import { startWorkerProcess, type Started } from '../support/processes.ts';
import { startTemporal } from '../support/temporal.ts';
import { TASK_QUEUE, temporalEnv, TOKEN } from '../support/world.ts';
import { BAD_GATE, configurationFile } from './configuration.ts';
import { startChat, type Chat } from './chat.ts';

/** Who starts everything. By default that is a user at a host. */
const RECORDER = 'recorder';
/** Quick enough to record, and long enough that an operation has several reads. */
export const PACE = { intervalMs: 500, tries: 20 };

export interface Stage {
  readonly belay: Belay;
  readonly client: Client;
  readonly sandbox: Sandbox;
  readonly measure: Chat['measure'];
  /** Starts a run at that pace. */
  readonly start: (input: RunInput, type?: RunType) => Promise<Run>;
  /** Kills the worker, and starts another one. @param more of its environment */
  readonly replaceWorker: (more?: Record<string, string>) => Promise<void>;
  /** Opens another service in the same namespace, with a worker and a queue of its own. */
  readonly openOther: () => Promise<OtherService>;
}

type OtherService = Pick<Stage, 'belay' | 'sandbox' | 'start'>;

const defaults = { backup: { durationMs: 1_200 }, deployment: { durationMs: 1_200 } };

export async function openStage(): Promise<Stage> {
  const { address } = await startTemporal();
  const place = { address, namespace: 'default' };
  const [sandbox, chat] = [await newSandbox(), await startChat()];
  chat.measure(BAD_GATE, '5');
  const env = { ...temporalEnv(place), ...serviceEnv(sandbox.url) };
  const ownEnv = { ...env, BELAY_CONFIG: await configurationFile(sandbox.url, chat.origin) };
  let worker: Started = await startWorkerProcess(ownEnv);
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const client = new Client({ connection, namespace: place.namespace });
  const on = async (taskQueue: string) => {
    const belay = await connect({ connection, ...place, taskQueue, by: RECORDER });
    return { belay, start: starter(belay) };
  };
  return {
    ...(await on(TASK_QUEUE)),
    ...{ client, sandbox, measure: (...it) => chat.measure(...it) },
    async replaceWorker(more = {}) {
      worker.process.kill('SIGKILL');
      await worker.finished;
      worker = await startWorkerProcess({ ...ownEnv, ...more });
    },
    async openOther() {
      const other = await newSandbox();
      const taskQueue = `other-${new URL(other.url).port}`;
      await startWorkerProcess({ ...env, ...serviceEnv(other.url), BELAY_TASK_QUEUE: taskQueue });
      return { ...(await on(taskQueue)), sandbox: other };
    },
  };
}

const serviceEnv = (url: string) => ({ BELAY_API_URL: url, BELAY_API_TOKEN: TOKEN });

const starter = (belay: Belay) => (input: RunInput, type?: RunType) =>
  belay.start({ backup: PACE, deploy: PACE, ...input }, type === undefined ? {} : { type });

async function newSandbox(): Promise<Sandbox> {
  const sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  return sandbox;
}
