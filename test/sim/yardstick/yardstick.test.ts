/**
 * What users and the service see of runs, recorded before a refactoring and compared after it: results, exit codes,
 * messages, and the requests for each target in their order. How it comes about may change: the record has no times, no
 * run ids, no histories and no reads.
 *
 * `BELAY_YARDSTICK=record npx tsx --test test/sim/yardstick/yardstick.test.ts` records anew, which belongs into a commit
 * that means to change what users see. A case that depends on how long messages take is not recorded.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { EVENT_TYPE, ROLLOUT_TYPE, RUN_TYPES, SCHEDULED_TYPE } from '../../../src/contract/names.ts';
import { exitCodeOfResult } from '../../../src/contract/errors.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import { play, scenarioOf } from '../plays/play.ts';
import { resultOf } from '../plays/record.ts';
import { sharedSandboxes } from '../stack/shared-sandboxes.ts';
import { inVirtualTime } from '../stack/stack.ts';
import type { Tape } from '../tape.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import type { World } from '../world.ts';
import { FEATURE_CASES } from './feature-cases.ts';
import { SERVICE_CASES } from './service-cases.ts';
import { DEFAULTS, type Case } from './setting.ts';

const FILE = new URL('yardstick.json', import.meta.url);
const isRecording = process.env.BELAY_YARDSTICK === 'record';
/** Scenarios of the chaos model, in which several runs meet. */
const SEEDS: readonly number[] = [2, 4, 5, 6, 7, 9, 10, 11, 14, 15];

/** The same in every play, but for how long a message takes: nothing, or half of the longest time. */
function paced(pace: 'fast' | 'slow'): Tape {
  const delays = ['rpc', 'task', 'connect', 'transmit', 'answer', 'transfer', 'site', 'page', 'gate', 'measured'];
  const choose = (what: string, n: number) => (pace === 'slow' && delays.includes(what) ? Math.floor(n / 2) : 0);
  return { choose, choices: [] };
}

async function recordOf({ play: body, options }: Case, pace: 'fast' | 'slow'): Promise<unknown> {
  let recorded: unknown;
  const playToTheEnd = inVirtualTime(
    async (stack) => {
      const { server } = stack.world;
      await body(stack);
      await stack.until('the end of everything', () =>
        server.runs.every((run) => run.closedMs !== null || !isOfUsers(run)),
      );
      await stack.forward(REPORTS_MS);
      recorded = shown(stack.world);
    },
    { defaults: DEFAULTS, ...options, tape: paced(pace) },
  );
  await playToTheEnd();
  return recorded;
}

async function recordOfSeed(seed: number, pace: 'fast' | 'slow'): Promise<unknown> {
  const { world } = await play(await sharedSandboxes(), scenarioOf(seed), paced(pace));
  world.endWorkers();
  assert.deepEqual(world.findings, []);
  return shown(world);
}

const OF_USERS: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE, SCHEDULED_TYPE, EVENT_TYPE];
const isOfUsers = (run: Run) => OF_USERS.includes(run.type) || (isOperation(run) && run.parent === null);
/** Within this time after the last end, it was reported. */
const REPORTS_MS = 600_000;

function shown({ server, service, notices }: World): unknown {
  const requests: Record<string, string[]> = {};
  const keys: Record<string, (string | null)[]> = {};
  for (const { by, request, answered, fault, idempotencyKey } of service.state.journal) {
    if (by !== 'api' || !request.startsWith('POST ')) continue;
    const known = (keys[request] ??= []);
    if (!known.includes(idempotencyKey)) known.push(idempotencyKey);
    const what = [answered ?? 'no answer', ...(fault === null ? [] : [fault])].join(', ');
    (requests[request] ??= []).push(`${what}, key ${known.indexOf(idempotencyKey) + 1}`);
  }
  return plain({
    executions: server.runs.filter(isOfUsers).map(endOf),
    requests,
    told: [
      ...notices.taken.map(({ channel, notification }) => `${channel}: ${notification.kind}`),
      ...notices.reported.map(({ to, reported: { state, text } }) => `${to.kind} ${to.name}: ${state}, ${text}`),
      ...notices.beats,
    ],
  });
}

function endOf({ workflowId, type, outcome }: Run): unknown {
  const result = resultOf<Pick<RunResult, 'outcome' | 'error'>>(outcome);
  const failure = outcome !== null && typeof outcome === 'object' && 'failure' in outcome ? outcome.failure : null;
  return {
    ...{ workflowId, type },
    ...(failure === null ? {} : { fails: `${failure.applicationFailureInfo?.type}: ${failure.message}` }),
    ...(result?.error === undefined ? {} : { exit: exitCodeOfResult(result) }),
    result: result ?? (outcome === 'terminated' ? outcome : null),
  };
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const RUN_ID = /\d{8}-0000-4000-8000-000000000000/g;
/** Each delivery has a number of its own. */
const DELIVERY = /(event:\w+:msg)\d+/g;

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, it: unknown) => (name === 'runId' ? undefined : it))
      .replace(TIME, 'TIME')
      .replace(RUN_ID, 'RUN ID')
      .replace(DELIVERY, '$1'),
  );

const PLAYS: Record<string, (pace: 'fast' | 'slow') => Promise<unknown>> = {
  ...Object.fromEntries(
    Object.entries({ ...SERVICE_CASES, ...FEATURE_CASES }).map(([name, it]) => [
      name,
      (pace: 'fast' | 'slow') => recordOf(it, pace),
    ]),
  ),
  ...Object.fromEntries(SEEDS.map((seed) => [`seed ${seed}`, (pace: 'fast' | 'slow') => recordOfSeed(seed, pace)])),
};

const kept = isRecording ? {} : (JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, unknown>);

for (const [name, playIt] of Object.entries(PLAYS))
  test(`users and the service see the same as before of ${name}`, async () => {
    const now = await playIt('fast');
    if (!isRecording) return assert.deepEqual(now, kept[name]);
    assert.deepEqual(await playIt('slow'), now, 'it depends on how long messages take');
    kept[name] = now;
  });

/** A line for each execution, so that a change is easy to review. */
const text = (record: unknown) => JSON.stringify(record).replaceAll('{"workflowId"', '\n {"workflowId"');
const lines = () => Object.entries(kept).map(([name, record]) => `${JSON.stringify(name)}: ${text(record)}`);
if (isRecording) after(() => writeFileSync(FILE, `{\n${lines().join(',\n')}\n}\n`));
