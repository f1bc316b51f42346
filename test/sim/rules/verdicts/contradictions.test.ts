/** Answers whose ids say that they are about another deployment. Before each request, the last one is `completed`, id 1. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import { POOLED_WAIT_ACTIVITY } from '../../../../src/contract/names.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { posts } from '../../../support/journal.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { inVirtualTime, type StackOptions, type VirtualStack } from '../../stack/stack.ts';
import { namedSite } from './named-site.ts';

const INTERVAL_MS = 2_000;

type Ids = Record<string, unknown>;

const is = (status: string, id: unknown, more: Ids = {}) => ({ status, id, ...more });
const marked = (field: string, status: string, value: unknown) => ({ status, [field]: value });

interface Case {
  name: string;
  old?: object | object[];
  answered?: object;
  answeredAfterMs?: number;
  reads: object[];
  verdict: string;
  error?: RegExp;
  input?: RunInput;
  options?: StackOptions;
}

const WITHOUT_ID = { status: 'completed' };
const FLIPS = [is('running', 2), is('completed', 1), is('running', 2), is('failed', 2)];
const NAMED: StackOptions = { configuration: { deploymentId: 'id' } };
const LONG = 'x'.repeat(300);
const FIELD = /id of the deployment before .*; if .*deploymentId in belay\.yaml/;

const CASES: Case[] = [
  {
    name: 'a replica that flips back to the deployment of before ends no wait',
    answered: { id: 2 },
    reads: FLIPS,
    verdict: 'failed by identity',
  },
  {
    name: 'a replica that flips back ends no wait if the request was answered without an id',
    reads: FLIPS,
    verdict: 'failed by transition',
  },
  {
    name: 'a replica that shows the deployment before the last one ends no wait',
    answered: { id: 2 },
    reads: [is('failed', 'older'), is('running', 2), is('completed', 2)],
    verdict: 'completed by identity',
  },
  ...[0, undefined].map((id) => ({
    name: `an answer with the id ${id}, in a word that neither the baseline nor ours has, ends no wait at once`,
    answered: { id: 2 },
    reads: [is('failed', id), is('running', 2), is('completed', 2)],
    verdict: 'completed by identity',
  })),
  {
    name: 'an answer that has lost the id, too late to last until the tries are used up, is named as the reason',
    answered: { id: 2 },
    reads: [...Array.from({ length: 27 }, () => is('running', 2)), is('failed', undefined)],
    verdict: 'unknown by transition',
    error: /no longer shows an id in the same field, and that has not lasted for the settle time after 30 tries/,
  },
  {
    name: 'an answer that has lost the id of the baseline decides once it has lasted',
    answered: { id: 2 },
    reads: [is('failed', undefined)],
    verdict: 'failed by changed',
  },
  {
    name: 'a push after ours is not taken for ours, and the wait ends unknown',
    answered: { id: 2 },
    reads: [is('running', 2), is('running', 2), is('completed', 3)],
    verdict: 'unknown by transition',
    error: /shows a deployment with another id after \d+ tries/,
  },
  {
    name: 'a push after ours that stays in progress does not make ours time out',
    answered: { id: 2 },
    reads: [is('running', 2), is('running', 3)],
    verdict: 'unknown by transition',
    error: /another id/,
  },
  {
    name: 'the id of a job, which latest never shows, holds nothing up that was in progress',
    answered: { id: 'job-9' },
    reads: [is('running', 2), is('completed', 2)],
    verdict: 'completed by transition',
  },
  {
    name: 'the id of a job lets a deployment that was never in progress settle',
    answered: { id: 'job-9' },
    reads: [is('failed', 2)],
    verdict: 'failed by changed',
  },
  {
    name: 'a constant id blocks no verdict of a status that was in progress',
    old: is('completed', 'app'),
    answered: { id: 'app' },
    reads: [is('running', 'app'), is('completed', 'app')],
    verdict: 'completed by transition',
  },
  {
    name: 'an id of the answer that appears beside the word of a baseline without ids is not ours yet',
    old: { status: 'failed' },
    answered: { id: 1 },
    reads: [is('failed', 1), is('failed', 1), is('running', 2), is('completed', 2)],
    verdict: 'completed by transition',
  },
  {
    name: 'an id of the answer that appears so does not replace one that was in progress',
    old: WITHOUT_ID,
    answered: { id: 1 },
    reads: [is('running', 2), is('completed', 1), is('running', 2), is('failed', 2)],
    verdict: 'failed by transition',
  },
  {
    name: 'an id of the answer that appears so is no evidence, however long it lasts',
    old: WITHOUT_ID,
    answered: { id: 1 },
    reads: [is('completed', 1)],
    input: { deploy: { intervalMs: INTERVAL_MS, tries: 30, minEvidence: 'transition' } },
    verdict: 'unknown by settled',
  },
  {
    name: 'an id of the answer that appears beside one that stays is no evidence',
    answered: { id: 1, uuid: 'u' },
    reads: [is('completed', 1, { uuid: 'u' })],
    verdict: 'unknown by OutcomeUnknown',
    error: FIELD,
  },
  {
    name: 'an id that stands for none in the baseline does not make the first other one new',
    old: is('failed', 0),
    answered: { id: 1 },
    reads: [is('failed', 1), is('failed', 1), is('running', 2), is('completed', 2)],
    verdict: 'completed by transition',
  },
  {
    name: 'an answer that has lost the id, in the word of before, ends no wait at once',
    answered: { id: 2 },
    reads: [is('running', 2), WITHOUT_ID, is('running', 2), is('failed', 2)],
    verdict: 'failed by identity',
  },
  ...[
    { answered: { id: 3 }, verdict: 'completed by identity' },
    { answered: {}, verdict: 'completed by transition' },
  ].map((it) => ({
    name: `a push that was in progress before a baseline from a replica that lagged is not ours`,
    old: [is('completed', 1), is('running', 2), is('completed', 1)],
    reads: [is('running', 2), is('failed', 2), is('running', 3), is('completed', 3)],
    ...it,
  })),
  {
    name: 'what the run read when it was admitted is not ours, although the replica of the baseline lagged',
    old: [is('failed', 2), is('completed', 1)],
    reads: [is('failed', 2), is('running', 3), is('completed', 3)],
    verdict: 'completed by transition',
  },
  {
    name: 'an id that keeps the final word of before to the end is unknown, and the message names deploymentId',
    old: is('completed', 'app'),
    reads: [is('completed', 'app')],
    verdict: 'unknown by OutcomeUnknown',
    error: FIELD,
  },
  {
    name: 'no field is taken for an id if deploymentId is none',
    old: is('completed', 'app'),
    reads: [is('completed', 'app')],
    verdict: 'completed by settled',
    options: { configuration: { deploymentId: 'none' } },
  },
  {
    name: 'deploymentId names the only field that is an id',
    old: is('completed', 'app', { data: { number: 1 } }),
    answered: { id: 'job-9', data: { number: 2 } },
    reads: [is('completed', 'app', { data: { number: 1 } }), is('completed', 'app', { data: { number: 2 } })],
    verdict: 'completed by identity',
    options: { configuration: { deploymentId: 'data.number' } },
  },
  {
    name: 'with the id that deploymentId names, a push in progress before ours is not taken for ours',
    answered: { id: 2 },
    reads: [is('running', 3), is('failed', 3), is('failed', 3), is('running', 2), is('completed', 2)],
    verdict: 'completed by identity',
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, a push whose final word lasts before ours is not taken for ours',
    answered: { id: 2 },
    reads: [...Array.from({ length: 9 }, () => is('failed', 3)), is('completed', 2)],
    verdict: 'completed by identity',
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, a push that hides ours to the end is unknown',
    answered: { id: 2 },
    reads: [is('running', 3), is('completed', 3)],
    verdict: 'unknown by OutcomeUnknown',
    error: /shows a deployment with another id after \d+ tries/,
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, a push that hides ours to the end is unknown, however long the ids are',
    old: is('completed', LONG + '1'),
    answered: { id: LONG + '2' },
    reads: [is('running', LONG + '3'), is('completed', LONG + '3')],
    verdict: 'unknown by OutcomeUnknown',
    error: /shows a deployment with another id after \d+ tries/,
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, the earlier one that leaves its final word is a replica that lags',
    answered: { id: 2 },
    reads: [is('running', 1), ...Array.from({ length: 9 }, () => is('failed', 1)), is('completed', 2)],
    verdict: 'completed by identity',
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, a push that was read before the answer to the request is forgotten',
    old: WITHOUT_ID,
    answered: { id: 2 },
    answeredAfterMs: 4_000,
    reads: [is('running', 3), is('running', 3), is('failed', 3), is('completed', 2)],
    verdict: 'completed by settled',
    options: NAMED,
  },
  {
    name: 'with the id that deploymentId names, a push that was read before the answer is no evidence of ours',
    answered: { id: 2 },
    answeredAfterMs: 4_000,
    reads: [is('running', 3), is('running', 3), is('failed', 3)],
    verdict: 'unknown by OutcomeUnknown',
    error: /shows a deployment with another id after \d+ tries.*; if the id .* set deploymentId to none in belay\.yaml/,
    options: NAMED,
  },
  {
    name: 'an answer to the request without the id that deploymentId names leaves ours to what is in progress',
    reads: [is('running', 2), is('failed', 2)],
    verdict: 'failed by transition',
    options: NAMED,
  },
  {
    name: 'of two ids, a constant one blocks nothing if the other was shown in progress',
    old: is('completed', 'app', { data: { id: 1 } }),
    reads: [is('running', 'app', { data: { id: 2 } }), is('completed', 'app', { data: { id: 1 } })].concat(
      is('failed', 'app', { data: { id: 2 } }),
    ),
    verdict: 'failed by transition',
  },
  {
    name: 'a status that comes back in progress under the id of before is forgotten once another id is shown',
    reads: [is('running', 1), is('completed', 1), is('completed', 2)],
    verdict: 'completed by settled',
  },
  ...['created_at', 'commit'].map((field) => ({
    name: `another ${field} contradicts nothing`,
    old: marked(field, 'completed', 'a'),
    answered: marked(field, 'queued', 'b'),
    reads: [marked(field, 'running', 'b'), marked(field, 'completed', 'a')],
    verdict: 'completed by transition',
  })),
];

/** The truth is another one, or unknown, and no answer shows it. */
const CANNOT_TELL: Case[] = [
  {
    name: 'without ids, a replica that flips back to the deployment of before ends the wait',
    old: { status: 'completed' },
    reads: FLIPS.map(({ status }) => ({ status })),
    verdict: 'completed by transition',
  },
  {
    name: 'without ids, a deployment that is shown only after the settle time settles as that of before',
    old: { status: 'completed' },
    reads: [...Array.from({ length: 9 }, () => ({ status: 'completed' })), { status: 'failed' }],
    verdict: 'completed by settled',
  },
  {
    name: 'without the id of the trigger, what follows a baseline from a replica that lagged is taken for ours',
    reads: [is('failed', 2), is('completed', 3)],
    verdict: 'failed by changed',
  },
  {
    name: 'without the id of the trigger, the later of two new ids in progress is taken for ours',
    reads: [is('running', 2), is('running', 3), is('failed', 3)],
    verdict: 'failed by transition',
  },
  {
    name: 'a push that latest shows in progress before ours is taken for ours',
    answered: { id: 2 },
    reads: [is('running', 3), is('failed', 3), is('completed', 2)],
    verdict: 'failed by transition',
  },
  {
    name: 'a push whose final word lasts before latest shows ours is taken for ours',
    answered: { id: 2 },
    reads: [is('failed', 3)],
    verdict: 'failed by changed',
  },
];

async function deploy(stack: VirtualStack, answers: Omit<Case, 'name' | 'verdict' | 'error' | 'options'>) {
  const { old = is('completed', 1), answered = {}, answeredAfterMs = 0, reads, input = {} } = answers;
  const siteId = namedSite(stack.sandbox, { old, answered, answeredAfterMs, now: reads });
  const run = stack.start({ siteIds: [siteId], deploy: { intervalMs: INTERVAL_MS, tries: 30 }, ...input });
  return { siteId, result: await stack.result(run) };
}

describe('ids that contradict', () => {
  for (const { name, verdict, error, options, ...answers } of [...CASES, ...CANNOT_TELL]) {
    test(
      `${name}: ${verdict}`,
      inVirtualTime(async (stack) => {
        const { result } = await deploy(stack, answers);
        assert.equal(verdictLine(result), verdict);
        if (error !== undefined) assert.match(result.error?.message ?? '', error);
      }, options),
    );
  }

  test(
    'an id that is that of the site or its server marks nothing',
    inVirtualTime(async ({ sandbox, start, result }) => {
      const [siteId, serverId] = [fresh('a'), fresh('s')];
      const answer = { ...is('completed', siteId), data: { id: serverId } };
      namedSite(sandbox, { old: answer, answered: answer, now: answer }, siteId);
      assert.equal(verdictLine(await result(start({ serverId, siteIds: [siteId] }))), 'completed by settled');
    }),
  );

  test(
    'pooled reads see the ids, too: a push that is in progress ends the wait in the pool, and not that for ours',
    inVirtualTime(async (stack) => {
      const building = Array.from({ length: 8 }, () => is('running', 2));
      const pushed = [is('running', 3), is('running', 3), is('completed', 3)];
      const reads = [...building, ...pushed, is('failed', 2)];
      const { siteId, result } = await deploy(stack, { answered: { id: 2 }, reads, input: { waits: 'pooled' } });
      assert.equal(verdictLine(result), 'failed by identity');
      const operation = stack.world.server.find(deploySiteId(siteId))!;
      const pooled = eventsOf(operation, 'activityScheduled').filter(({ type }) => type === POOLED_WAIT_ACTIVITY);
      assert.ok(pooled.length >= 2, `${pooled.length} waits in the pool`);
    }),
  );
});

describe('a watch', () => {
  const watch = async ({ sandbox, start, result }: VirtualStack, reads: object[]) => {
    const [target, [first, ...others]] = [fresh('a'), reads];
    const body = (it: object) =>
      ({ kind: 'body', code: 200, type: 'application/json', text: JSON.stringify(it) }) as const;
    const latest = { route: 'latest', target } as const;
    sandbox.fault(
      ...[first!, ...others].map((it, index) => ({
        ...latest,
        answer: body(it),
        times: index === others.length ? 999 : 1,
      })),
    );
    const run = start(
      { siteIds: [target], deploy: { intervalMs: INTERVAL_MS, tries: 30 } },
      { type: 'watchDeployment' },
    );
    return result(run);
  };

  test(
    'of a deployment in progress does not end with the one of before, which a replica still shows',
    inVirtualTime(async (stack) => {
      const reads = [is('running', 2), is('completed', 1), is('running', 2), is('failed', 2)];
      assert.equal(verdictLine(await watch(stack, reads)), 'failed by transition');
    }),
  );

  test(
    'of a site whose answers have a constant id ends once the final status has lasted',
    inVirtualTime(async (stack) => {
      const reads = [is('completed', 'app'), is('running', 'app'), is('completed', 'app')];
      assert.equal(verdictLine(await watch(stack, reads)), 'completed by transition');
    }),
  );
});

describe('a request in doubt', () => {
  const lost = async (stack: VirtualStack, reads: object[], old: object | object[] = is('completed', 1)) => {
    const siteId = fresh('a');
    const reset = { route: 'deploy', target: siteId, effect: true, answer: { kind: 'reset' } } as const;
    stack.sandbox.fault(reset, reset);
    namedSite(stack.sandbox, { old, answered: {}, now: reads }, siteId);
    const run = stack.start({ siteIds: [siteId], deploy: { intervalMs: INTERVAL_MS, tries: 30 } });
    const result = await stack.result(run);
    return { result, sent: posts(stack.sandbox, `/v1/sites/${siteId}/deploy`).length };
  };

  test(
    'is not sent again after an id that was not there before, although another field keeps its id',
    inVirtualTime(async (stack) => {
      const at = (id: number) => is('completed', 'app', { data: { id } });
      const { result, sent } = await lost(stack, [at(1), at(2)], at(1));
      assert.equal(sent, 1);
      assert.equal(result.deployments[0]?.trigger.reconciledBy, 'changed');
      assert.equal(verdictLine(result), 'unknown by OutcomeUnknown');
    }),
  );

  test(
    'is reconciled by an id that was not there before, although the status is the same',
    inVirtualTime(async (stack) => {
      const { result, sent } = await lost(stack, [is('completed', 1), is('completed', 2)]);
      assert.deepEqual([verdictLine(result), sent], ['completed by settled', 1]);
      assert.equal(result.deployments[0]?.trigger.reconciledBy, 'changed');
    }),
  );

  const OTHERS = Array.from({ length: 99 }, (_, index) => is('completed', 2 + index));
  for (const [how, reads, why] of [
    ['each answer has another id', OTHERS, /no two reads in a row showed the same new id; if .*deploymentId/],
    ['one answer alone had another id', [is('completed', 2), is('completed', 1)], /a later read took the change back/],
  ] as const)
    test(
      `is neither reconciled nor sent again if ${how}`,
      inVirtualTime(async (stack) => {
        const { result, sent } = await lost(stack, [...reads]);
        assert.deepEqual([verdictLine(result), sent], ['unknown by OutcomeUnknown', 1]);
        assert.match(result.error?.message ?? '', why);
      }),
    );

  test(
    'is neither reconciled nor sent again if an id appears where the baseline had none',
    inVirtualTime(async (stack) => {
      const { result, sent } = await lost(stack, [WITHOUT_ID, is('completed', 1)], WITHOUT_ID);
      assert.deepEqual([verdictLine(result), sent], ['unknown by OutcomeUnknown', 1]);
      assert.equal(result.deployments[0]?.trigger.reconciledBy, null);
      assert.match(result.error?.message ?? '', /an id appeared where the baseline had none; if .*deploymentId/);
    }),
  );

  test(
    'is reconciled by a deployment in progress after an id appeared where the baseline had none',
    inVirtualTime(async (stack) => {
      const reads = [is('completed', 1), is('running', 2), is('completed', 2)];
      const { result, sent } = await lost(stack, reads, WITHOUT_ID);
      assert.deepEqual([verdictLine(result), sent], ['completed by transition', 1]);
    }),
  );

  const NIL = '00000000-0000-0000-0000-000000000000';
  for (const id of [0, NIL])
    test(
      `is neither reconciled nor sent again if an id appears where the baseline had ${id}, which stands for none`,
      inVirtualTime(async (stack) => {
        const { result, sent } = await lost(stack, [is('completed', 1)], is('completed', id));
        assert.deepEqual([result.outcome, sent], ['unknown', 1]);
      }),
    );

  test(
    'is neither reconciled nor sent again if only a push from before it is shown in progress',
    inVirtualTime(async (stack) => {
      const before = [is('completed', 1), is('running', 2), is('completed', 1)];
      const { result, sent } = await lost(stack, [is('running', 2), is('completed', 2)], before);
      assert.deepEqual([result.outcome, sent, result.deployments[0]?.trigger.reconciledBy], ['unknown', 1, null]);
      assert.match(result.error?.message ?? '', /another deployment was in progress after the request/);
    }),
  );

  test(
    'is not reconciled by what the run read when it was admitted, although the replica of the baseline lagged',
    inVirtualTime(async (stack) => {
      const { sent } = await lost(stack, [is('completed', 2)], [is('completed', 2), is('completed', 1)]);
      assert.equal(sent, 2);
    }),
  );

  test(
    'is neither reconciled nor sent again if the status changes under the id of before',
    inVirtualTime(async (stack) => {
      const { result, sent } = await lost(stack, [is('running', 1), is('completed', 1)]);
      assert.deepEqual([result.outcome, sent], ['unknown', 1]);
      assert.match(result.error?.message ?? '', /kept the id of the deployment before; if .*deploymentId/);
    }),
  );

  test(
    'is sent again if all answers show the deployment of before',
    inVirtualTime(async (stack) => {
      const { sent } = await lost(stack, [is('completed', 1)]);
      assert.equal(sent, 2);
    }),
  );
});
