/** A program passes on a field that is not set, such as a variable of the environment, as a field that is undefined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScheduleNotFoundError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { startRun } from '../../src/client/runs/start-run.ts';
import type { Session } from '../../src/client/session.ts';
import { parseConfiguration } from '../../src/config/parse-configuration.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { identityText } from '../../src/contract/worker-identity.ts';
import { leftOfOverride } from '../../src/features/freezes/client.ts';
import { createRollouts } from '../../src/features/rollouts/client.ts';
import { planRollout } from '../../src/config/rollout-plan.ts';
import type { RolloutInput } from '../../src/features/rollouts/shapes.ts';
import { createSchedules } from '../../src/features/schedules/client.ts';
import { planSchedules } from '../../src/features/schedules/config.ts';
import { rolloutOf } from '../support/rollouts.ts';

const SERVICE = 'https://panel.example#shop';
const WORKER = { version: '1', where: 'host:1', service: SERVICE, since: '2026-01-01T00:00:00Z', epoch: '7' };

/** @param started receives the input of everything that is started */
function sessionOf(started: unknown[]): Session {
  const memos = new Map<string, unknown>();
  const workflow = {
    start(type: string, { args, workflowId }: { args: unknown[]; workflowId: string }) {
      if (memos.has(workflowId))
        return Promise.reject(new WorkflowExecutionAlreadyStartedError('taken', workflowId, type));
      const input: unknown = JSON.parse(JSON.stringify(args[0]));
      memos.set(workflowId, { input });
      started.push(input);
      return Promise.resolve({ firstExecutionRunId: 'r1' });
    },
    getHandle: (id: string) => ({ describe: () => Promise.resolve({ runId: 'r1', memo: memos.get(id) }) }),
  };
  const schedule = {
    list: () => [],
    getHandle: (id: string) => ({ describe: () => Promise.reject(new ScheduleNotFoundError('none', id)) }),
  };
  const withDeadline = (_untilMs: number, act: () => Promise<unknown>) => act();
  const pollers = [{ identity: identityText(WORKER), polledMs: Date.now(), version: null }];
  return {
    ...{ taskQueue: 'belay', service: SERVICE, by: 'ana', encrypts: false, setsAttributes: false, tracing: null },
    ...{ client: { workflow, schedule, withDeadline }, uiUrl: null },
    workers: () => Promise.resolve({ pollers, current: [null] }),
  } as unknown as Session;
}

const UNSET = { service: undefined, epoch: undefined };
const by = undefined;
const EXCEPTIONS = { override: { freezes: ['stock'], reason: 'urgent', by }, noCheck: { reason: 'moved', by } };
const EXPECTED = {
  ...{ service: SERVICE, epoch: '7' },
  override: { freezes: ['stock'], reason: 'urgent', by: 'ana' },
  noCheck: { reason: 'moved', by: 'ana' },
};

test('a run and a rollout keep their service, their epoch and who decides if these are passed on and not set', async () => {
  const started: Partial<RunInput & RolloutInput>[] = [];
  const session = sessionOf(started);
  const target = { serverId: '12', siteIds: ['34'] };
  await startRun(session, { ...target, ...UNSET, ...EXCEPTIONS } as never, { key: 'k' });
  await createRollouts(session, leftOfOverride).start({ ...rolloutOf([target]), ...UNSET, ...EXCEPTIONS } as never);
  for (const { service, epoch, override, noCheck } of started)
    assert.deepEqual({ service, epoch, override, noCheck }, EXPECTED);
  assert.equal(started.length, 2);
});

test('a start with the same key attaches, also if the input has fields that are passed on and not set', async () => {
  const session = sessionOf([]);
  const deploysUntil = { time: '06:00', timeZone: 'UTC', after: undefined };
  const input = { siteIds: ['34'], ...UNSET, deploy: { tries: undefined }, deploysUntil } as never;
  await startRun(session, input, { key: 'k' });
  assert.equal((await startRun(session, input, { key: 'k' })).attached, true);
});

const FILE = parseConfiguration(
  `
fleets: { shop: { servers: { 12: { sites: [34] } } } }
rollouts: { steady: { fleet: shop, ifFrozen: wait } }
schedules: { nightly: { cron: '0 2 * * *', start: { backup: 12 } } }
`,
  'belay.yaml',
);

test('a schedule keeps the service of its workers if its input has one that is not set', async () => {
  const [planned] = planSchedules(FILE, 2026);
  const { definition } = planned!;
  Object.assign(definition.input.start.input, UNSET);
  const [change] = await createSchedules(sessionOf([])).plan([definition], []);
  assert.equal(change?.definition?.input.start.input.service, SERVICE);
});

test('a rollout of belay.yaml keeps the options of the file where those of the program are not set', () => {
  assert.deepEqual(planRollout(FILE, 'steady', { ifFrozen: undefined } as never).options, { ifFrozen: 'wait' });
});

test('a run without a type is refused if a field that decides what it does is passed on and not set', async () => {
  const start = (input: object, options = {}) => startRun(sessionOf([]), input, options);
  const says = (field: string) => ({
    type: 'Usage',
    message: `${field}: is undefined, and what is done depends on it: give it a value, or leave it out`,
  });
  await assert.rejects(start({ serverId: undefined, siteIds: ['34'] }), says('serverId'));
  await assert.rejects(start({ serverId: '12', siteIds: undefined }), says('siteIds'));
  await assert.rejects(start({ serverId: '12', targets: undefined }), says('targets'));
  await start({ serverId: '12', siteIds: undefined, targets: [{ kind: 'site', id: '34' }] });
  await start({ serverId: undefined, siteIds: ['34'] }, { type: 'deployOnly' });
  await start({ serverId: '12', siteIds: undefined }, { type: 'backupOnly' });
});

test('a rollout is refused if the sites of a server are passed on and not set', async () => {
  const input = rolloutOf([{ serverId: '12', siteIds: undefined } as never]);
  await assert.rejects(createRollouts(sessionOf([]), leftOfOverride).start(input), {
    type: 'Usage',
    message: /^waves\[0\]\.targets\[0\]: siteIds: is undefined, and what is done depends on it: give it a value/,
  });
});
