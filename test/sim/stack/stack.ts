/**
 * What a test of a rule needs, in virtual time: the workflows and activities, the service with the sandbox's controls,
 * and no faults but those that the test asks for. Every wait has its real length and takes no time.
 */
import assert from 'node:assert/strict';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { RunType } from '../../../src/contract/names.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { createControls, type Controls } from '../../../src/sandbox/controls.ts';
import type { Sandboxes } from '../core/sdk.ts';
import { resultOf } from '../plays/record.ts';
import { queryRun } from './query.ts';
import { sharedSandboxes } from './shared-sandboxes.ts';
import { USUAL_INPUT } from './usual-input.ts';
import { startRun } from '../plays/start-run.ts';
import { recordedTape, type Tape } from '../tape.ts';
import type { Run } from '../temporal/types.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';

export interface VirtualStack {
  readonly world: World;
  readonly sandbox: Controls;
  /** @throws BelayError of type `Usage` */
  readonly start: (input: RunInput, options?: { type?: RunType }) => Run;
  /** Starts a workflow as an operator does, who gives it an id and input. */
  readonly startByHand: (type: string, workflowId: string, ...args: unknown[]) => Run;
  /** Starts an execution that receives signals, and that no worker ever serves. */
  readonly startUnserved: () => Run;
  /** Lets time pass until it has closed. @returns its result, whatever its outcome */
  readonly result: <T = RunResult>(run: Run) => Promise<T>;
  /** Lets time pass until a condition holds. @returns its first value that is not null, undefined or false */
  readonly until: <T>(what: string, condition: () => T | null | undefined | false) => Promise<T>;
  readonly forward: (ms: number) => Promise<void>;
  readonly signal: (workflowId: string, name: string, ...args: unknown[]) => void;
  /** The answer of the latest execution. @throws Error if it has no such query */
  readonly query: <T>(workflowId: string, name: string) => Promise<T>;
  readonly cancel: (run: Run) => void;
  readonly terminate: (workflowId: string) => void;
}

export interface StackOptions extends Partial<
  Pick<
    WorldOptions,
    'defaults' | 'statuses' | 'notify' | 'stalls' | 'cacheSize' | 'gate' | 'configuration' | 'files' | 'searchLagMs'
  >
> {
  /** Default: nothing goes wrong. */
  tape?: Tape;
}

/** Until an answer has arrived and its task is done. */
export const MOMENT_MS = 100;

/** No test of a rule takes longer. */
const LIMIT_MS = 7 * 24 * 3_600_000;

/** The body of a test that has a world of its own. */
export function inVirtualTime(
  body: (stack: VirtualStack) => Promise<void>,
  { tape = recordedTape([]), ...options }: StackOptions = {},
): () => Promise<void> {
  return async () => {
    const sandboxes = await sharedSandboxes();
    const usual = { workers: 1, cacheSize: 1_000, crashes: 0, stalls: 0, clockSpreadMs: 0 };
    const world = createWorld(sandboxes, tape, { ...usual, ...options });
    try {
      await body(createStack(sandboxes, world));
      assert.deepEqual(world.findings, []);
    } finally {
      // A request that is under way holds timers of the real world.
      world.endWorkers();
    }
  };
}

function createStack(sandboxes: Sandboxes, world: World): VirtualStack {
  const { clock, server, service, findings } = world;
  const sandbox = createControls(service.state, UNHEARD, DELIVERIES);
  let keys = 0;

  async function until<T>(what: string, condition: () => T | null | undefined | false): Promise<T> {
    let seen = condition();
    const isSeen = () => seen !== null && seen !== undefined && seen !== false;
    const look = () => ((seen = condition()), isSeen() || findings.length > 0);
    if (!isSeen()) await clock.run(clock.nowMs + LIMIT_MS, look);
    assert.deepEqual(findings, []);
    assert.ok(isSeen(), `nothing is due any more, and not seen: ${what}`);
    return seen as T;
  }

  function latest(workflowId: string): Run {
    const run = server.find(workflowId);
    assert.ok(run, `no ${workflowId}`);
    return run;
  }

  function startByHand(type: string, workflowId: string, ...args: unknown[]): Run {
    const request = {
      workflowId,
      type,
      input: toPayloads(args),
      memo: {},
      taskTimeoutMs: TIMING.worker.workflowTaskMs,
    };
    const run = server.startOnce(request);
    assert.ok(run, `${workflowId} is in use`);
    return run;
  }

  return {
    world,
    sandbox,
    start: (input, { type } = {}) => startRun(server, { ...USUAL_INPUT, ...input }, `k${(keys += 1)}`, type),
    startByHand,
    startUnserved: () => Object.assign(startByHand('deploy', `k${(keys += 1)}`), { stickyTo: 'a worker that is gone' }),
    async result<T = RunResult>(run: Run) {
      await until(`the end of ${run.workflowId}`, () => run.closedMs !== null);
      const result = resultOf<T>(run.outcome);
      assert.ok(result, `${run.workflowId} has no result`);
      return result;
    },
    until,
    async forward(ms) {
      let isOver = false;
      clock.after(ms, () => (isOver = true));
      await until(`${ms} ms`, () => isOver);
    },
    signal(workflowId, name, ...args) {
      const sent = server.signal({ workflowId }, name, toPayloads(args));
      assert.equal(sent, 'delivered', `${name} to ${workflowId}`);
    },
    query: (workflowId, name) => queryRun(sandboxes, latest(workflowId), name),
    cancel: (run) => server.requestCancel(run),
    terminate: (workflowId) => server.terminate(latest(workflowId)),
  };
}

const toPayloads = (args: readonly unknown[]) => args.map((it) => payloads.toPayload(it));

/** Webhooks of the sandbox go nowhere. */
const UNHEARD = { begun: () => {}, changed: () => {} };
const DELIVERIES = { list: [], faults: { add: () => {}, next: () => null }, subscribe: () => {}, send: () => {} };
