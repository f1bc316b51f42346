import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NativeConnection } from '@temporalio/worker';
import { msToTs } from '@temporalio/common/lib/time.js';
import { identityText } from '../../src/contract/worker-identity.ts';
import { refuseOtherService } from '../../src/worker/queue.ts';

const [MINE, OTHER] = ['https://panel.example', 'https://elsewhere.example'];

const worker = (service: string, second: number) =>
  identityText({ version: '0.1.0', where: `host:${second}`, service, since: `2027-03-01T12:00:0${second}Z` });

/** A connection to a Temporal whose queue these workers poll. */
function queueOf(identities: string[]): NativeConnection {
  const pollers = identities.map((identity) => ({ identity, lastAccessTime: msToTs(Date.now()) }));
  return {
    withDeadline: (_deadline: number, ask: () => unknown) => Promise.resolve(ask()),
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  } as unknown as NativeConnection;
}

function check(listed: string[], formerly: string[] = []): Promise<void> {
  const served = { service: MINE, formerly };
  return refuseOtherService(queueOf(listed), { namespace: 'n', taskQueue: 'q', identity: worker(MINE, 5), served });
}

const REFUSED = { type: 'Usage', message: /a worker for https:\/\/elsewhere\.example \(host:\d\).*BELAY_TASK_QUEUE/ };

test('before it polls, a worker is refused by any worker of another service', async () => {
  await assert.rejects(check([worker(OTHER, 1)]), REFUSED);
  await assert.rejects(check([worker(OTHER, 9)]), REFUSED);
  await check([worker(MINE, 1), '7@host']);
  await check([worker(OTHER, 1)], [OTHER]);
});

test('once it is listed, a worker that sees one of another service goes, whichever is older', async () => {
  const me = worker(MINE, 5);
  await assert.rejects(check([me, worker(OTHER, 1)]), REFUSED);
  await assert.rejects(check([me, worker(OTHER, 9)]), REFUSED);
  await check([me]);
});
