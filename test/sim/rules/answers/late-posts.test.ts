/** S2: no POST leaves later than 5 s after it was scheduled, in true time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { posts } from '../../../support/journal.ts';
import { FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import type { Tape } from '../../tape.ts';

/** The worker stops when it has taken its first POST, and continues before a heartbeat is missed. */
function stallingOnce(): Tape {
  let taken = 0;
  const choose = (what: string, n: number) => {
    if (what === 'request taken') return (taken += 1) === 1 ? n - 1 : 0;
    return what === 'stall' ? 10 : 0;
  };
  return { choose, choices: [] };
}

async function deploy({ start, result, sandbox }: VirtualStack) {
  const siteId = siteAfter(sandbox, FAILED);
  const { deployments } = await result(start({ siteIds: [siteId] }));
  return { trigger: deployments[0]!.trigger, sent: posts(sandbox, `/v1/sites/${siteId}/deploy`).length };
}

test('a POST that a worker takes and keeps for five seconds is not sent late, and the next attempt is sent', () =>
  inVirtualTime(
    async (stack) => {
      const trigger = { attempts: 1, ambiguous: false, reconciledBy: null };
      assert.deepEqual(await deploy(stack), { trigger, sent: 1 });
    },
    { tape: stallingOnce(), stalls: 1 },
  )());

test('a POST that is sent later is a finding', () =>
  inVirtualTime(
    async (stack) => {
      const { activities } = stack.world.server;
      activities.awaitedForMs = (task) => (activities.isAwaited(task) ? 0 : null);
      await assert.rejects(deploy(stack), /S2: deploy-site:\S+ sent a request 52\d\d ms after it was scheduled/);
      stack.world.findings.length = 0;
    },
    { tape: stallingOnce(), stalls: 1 },
  )());
