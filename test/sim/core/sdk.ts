/**
 * The internals of the SDK that the simulator drives: the sandbox in which a worker runs workflow code. Only this file
 * and test/support/workflow-threads.ts depend on internals. They may change with any release of the SDK, so the version
 * is checked.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { coresdk } from '@temporalio/proto';
import type { SearchAttributePair } from '@temporalio/common';
import type { Attributes } from './events.ts';
import { ACTIVITIES } from './activity-names.ts';
import { randomnessSeed } from './randomness.ts';

const SDK_VERSION = '1.24.0';

export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = coresdk.workflow_commands.IWorkflowCommand;

interface Activation {
  atMs: number;
  /** The event that began its task. */
  startedId: number;
  /** More, if a query brought events of which no task has begun. */
  historyLength?: number;
  /** What the server told at the start of the task. */
  historySizeBytes?: number;
  isReplaying: boolean;
  jobs: Job[];
  /** The changes of the SDK's own behaviour that history has. */
  flags: readonly number[];
}

interface Activated {
  commands: Command[];
  /** Those it relies on, to be kept in history. */
  flags: number[];
}

/** The code of one workflow execution, in its sandbox. */
interface WorkflowCode {
  /** @throws Error if the code fails the workflow task */
  activate(activation: Activation): Promise<Activated>;
  dispose(): Promise<void>;
}

export interface ExecutionFacts {
  workflowId: string;
  runId: string;
  firstRunId: string;
  type: string;
  startedMs: number;
  taskTimeoutMs: number;
  parent: { workflowId: string; runId: string } | null;
}

export interface Sandboxes {
  open(facts: ExecutionFacts): Promise<WorkflowCode>;
  /** Resolves when no code is active and every promise has continued. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface VmWorkflow {
  activate(activation: object): Promise<coresdk.workflow_completion.IWorkflowActivationCompletion>;
  dispose(): Promise<void>;
}

interface VmCreator {
  createWorkflow(options: object): Promise<VmWorkflow>;
  destroy(): Promise<void>;
}

const require = createRequire(import.meta.url);

/** @param codePath of the workflow bundle */
export async function openSandboxes(codePath: string): Promise<Sandboxes> {
  const { version } = require('@temporalio/worker/package.json') as { version: string };
  if (version !== SDK_VERSION) throw new Error(`test/sim/core/sdk.ts knows SDK ${SDK_VERSION}, and not ${version}`);
  const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm') as {
    ReusableVMWorkflowCreator: {
      create(bundle: object, timeoutMs: undefined, activities: ReadonlySet<string>): Promise<VmCreator>;
    };
  };
  const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared') as {
    globalHandlers: { stopPromiseHook(): void };
  };
  const code = await readFile(codePath, 'utf8');
  const bundle = { code, sourceMap: NO_SOURCE_MAP, filename: pathToFileURL(codePath).href };
  const active = { count: 0 };
  const creator = await ReusableVMWorkflowCreator.create(bundle, undefined, ACTIVITIES);
  // It collects a stack trace for each promise, for a query that Belay does not use.
  globalHandlers.stopPromiseHook();
  return {
    open: async (facts) => codeOf(await creator.createWorkflow(creation(facts)), facts, active),
    async settled() {
      do await new Promise((resolve) => setImmediate(resolve));
      while (active.count > 0 || readsFiles());
    },
    close: () => creator.destroy(),
  };
}

/** An activity may read a file, such as a token. That takes real time, in which no virtual time may pass. */
const readsFiles = (): boolean => process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq)/.test(name));

const NO_SOURCE_MAP = { version: 3, sources: [], names: [], mappings: '', file: '' };

function codeOf(workflow: VmWorkflow, { runId }: ExecutionFacts, active: { count: number }): WorkflowCode {
  return {
    async activate({ atMs, startedId, historyLength = startedId, historySizeBytes = 0, isReplaying, jobs, flags }) {
      active.count += 1;
      const at = { historyLength, historySizeBytes: longOf(historySizeBytes), timestamp: startOf(atMs, startedId) };
      const completion = await workflow
        .activate({ runId, ...at, isReplaying, jobs, availableInternalFlags: [...flags] })
        .finally(() => (active.count -= 1));
      const { failed, successful } = completion;
      if (failed) throw new Error(`workflow task failed: ${failed.failure?.message ?? ''}`);
      return { commands: successful?.commands ?? [], flags: successful?.usedInternalFlags ?? [] };
    },
    dispose: () => workflow.dispose(),
  };
}

/** As protobuf has 64 bits. */
const longOf = (value: number) => ({
  ...{ low: value, high: 0, unsigned: true },
  toNumber: () => value,
  toString: () => String(value),
});

function creation({ workflowId, runId, firstRunId, type, startedMs, taskTimeoutMs, parent }: ExecutionFacts) {
  const startTime = new Date(startedMs);
  return {
    info: {
      ...{ workflowId, runId, workflowType: type, firstExecutionRunId: firstRunId, attempt: 1, taskTimeoutMs },
      ...{ taskQueue: 'belay', namespace: 'default', searchAttributes: {}, historyLength: 3, historySize: 0 },
      ...{ startTime, runStartTime: startTime, continueAsNewSuggested: false },
      unsafe: { now: () => startedMs, isReplaying: false },
      ...(parent === null ? {} : { parent: { ...parent, namespace: 'default' } }),
    },
    randomnessSeed: seedBytes(runId),
    now: startedMs,
    showStackTraceSources: false,
  };
}

function seedBytes(runId: string): number[] {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(randomnessSeed(runId));
  return [...bytes];
}

/** Search attributes as a start has them. */
export const attributePayloads = (pairs: SearchAttributePair[]): Attributes => {
  const { encodeUnifiedSearchAttributes: encode } =
    require('@temporalio/common/lib/converter/payload-search-attributes') as {
      encodeUnifiedSearchAttributes: (attributes: undefined, pairs: SearchAttributePair[]) => Attributes;
    };
  return encode(undefined, pairs);
};

/** Also a duration. */
export const timestamp = (require('@temporalio/common/lib/time') as { msToTs: (ms: number) => object }).msToTs;

/** Two tasks of a real server never start at the same nanosecond. */
function startOf(atMs: number, startedId: number): object {
  const start = timestamp(atMs) as { nanos: number };
  return { ...start, nanos: start.nanos + startedId };
}

type Duration = { seconds?: unknown; nanos?: number | null } | null | undefined;

/** Also a time. Whole milliseconds: the fraction of a time of today is lost in a float, which may round it up. */
export const durationMs = (duration: Duration): number =>
  Number(duration?.seconds ?? 0) * 1_000 + Math.floor(Number(duration?.nanos ?? 0) / 1e6);
