/**
 * The workers of a test process share the threads that run their workflows, and the bundle that these load: a thread of
 * its own costs a worker more CPU time than most tests. Nor does anything time the calls into a workflow: Node starts a
 * thread for each timed call. Overrides internal methods of the SDK; without this, tests only become slower.
 */
import { createHash } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { atEnd } from './at-end.ts';

/** Starts the code of executions in a thread. */
interface Thread {
  createWorkflow(options: object): Promise<object>;
  destroy(): Promise<void>;
}

interface Options {
  namespace: string;
  taskQueue: string;
  activities: ReadonlyMap<string, unknown>;
  isolateExecutionTimeoutMs: number | undefined;
}

/** Reads a bundle and its source map. Some workers have the code of theirs without a path, and some have none. */
type ReadBundle = (options: { workflowBundle?: { codePath?: string } }, logger: object) => Promise<object | undefined>;

type StartThread = (bundle: { code: string }, options: Options, logger: object) => Promise<Thread>;

const internals = Worker as unknown as { createWorkflowCreator: StartThread; getOrCreateBundle: ReadBundle };
const startThread = internals.createWorkflowCreator.bind(Worker);
const readBundle = internals.getOrCreateBundle.bind(Worker);

const bundles = new Map<string, Promise<object | undefined>>();
const threads = new Map<string, Promise<Thread>>();
const workersOf = new Map<string, number>();

internals.getOrCreateBundle = (options, logger) => {
  const { codePath } = options.workflowBundle ?? {};
  if (codePath === undefined) return readBundle(options, logger);
  const bundle = bundles.get(codePath) ?? readBundle(options, logger);
  bundles.set(codePath, bundle);
  return bundle;
};

/**
 * A thread keeps one state of each execution, so the workers of one task queue, which may have the same executions in
 * their caches, have different threads.
 */
internals.createWorkflowCreator = async (bundle, given, logger) => {
  const options = { ...given, isolateExecutionTimeoutMs: undefined };
  const names = [...options.activities.keys()].sort().join();
  // That of a replay ends with it.
  if (names === '') return startThread(bundle, options, logger);
  const queue = `${options.namespace}/${options.taskQueue}`;
  const index = workersOf.get(queue) ?? 0;
  workersOf.set(queue, index + 1);
  // Bundles differ by what workers add to their code: they have one source map, and so one file name.
  const key = [index, createHash('sha256').update(bundle.code).digest('hex'), names].join('\n');
  let thread = threads.get(key);
  if (thread === undefined) {
    thread = startThread(bundle, options, logger);
    threads.set(key, thread);
    atEnd(async () => (await thread)!.destroy());
  }
  const shared = await thread;
  return { createWorkflow: (it) => shared.createWorkflow(it), destroy: () => Promise.resolve() };
};
