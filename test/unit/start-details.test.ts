/** What the pages of workflows show from their start on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FreezeScope } from '../../src/features/freezes/shapes.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { workflowLink } from '../../src/contract/markdown.ts';
import { freezeStartOptions } from '../../src/features/freezes/client.ts';
import { rolloutStaticDetails } from '../../src/request/rollout-start-options.ts';
import { runStaticDetails, type RunToStart } from '../../src/request/run-details.ts';

const START: RunToStart = { type: 'backupThenDeploy', startedBy: '`me@here`' };
/** Temporal's limit. */
const MAX_BYTES = 20_000;

const longId = (n: number) => `${n}${'€'.repeat(190)}`;
const manyIds = Array.from({ length: 200 }, (_, n) => longId(n));

describe('static details', () => {
  test('of a freeze have the command that ends it, with its scope', () => {
    const freeze = { ...{ since: '', until: '', reason: 'disks', by: 'ana', blocks: [] }, override: 'reason' as const };
    const end = (scope: FreezeScope) =>
      /End it: `(.*)`,/.exec(freezeStartOptions({ ...freeze, scope }).staticDetails)?.[1];
    assert.equal(end({ kind: 'site', id: '37' }), 'belay thaw --site 37 --reason TEXT');
    assert.equal(end({ kind: 'server', id: 'a b' }), "belay thaw --server 'a b' --reason TEXT");
    assert.equal(end({ kind: 'all' }), 'belay thaw --reason TEXT');
  });

  test('name what a run does, and every limit that it has', () => {
    const input: RunInput = {
      serverId: 's1',
      targets: [
        { kind: 'site', id: 'a1' },
        { kind: 'app', id: 'b1' },
      ],
      backup: { maxAgeMs: 600_000 },
      ifBusy: 'fail',
      outageBudgetMs: 3_600_000,
      startDeploysWithinMs: 7_200_000,
      deploysUntil: { time: '06:00', timeZone: 'Europe/Berlin' },
    };
    const page = runStaticDetails(input, START);
    for (const line of [
      'then deploys 2 targets, one after another',
      '**In this order**: site `a1`, app `b1`',
      '**Backup**: at most 20 tries, one every 15s: 5m in all, or a completed one that began at most 10m ago',
      '**Each deployment**: at most 30 tries, one every 10s: 5m in all, evidence at least settled',
      '**If another run is at work**: fails',
      '**If the service does not answer**: waits for at most 1h',
      'no deployment begins later than 2h after the run started, or than `06:00` in `Europe/Berlin`',
    ])
      assert.ok(page.includes(line), `${line}\n\n${page}`);
  });

  test('stay below the limit of Temporal, however much a run or rollout is asked for', () => {
    const meta = Object.fromEntries(manyIds.map((id) => [id, id]));
    const run = runStaticDetails({ serverId: longId(1), siteIds: manyIds, meta }, START);
    const wave = (name: string) => ({ name, targets: [{ serverId: 's1', siteIds: manyIds }] });
    const rollout = rolloutStaticDetails(
      {
        ...{ name: 'r', fleet: 'f', key: 'k', maxAtOnce: 1, maxFailures: 0, onFailures: 'stop', meta },
        waves: manyIds.map(wave),
      },
      START,
    );
    for (const page of [run, rollout]) {
      assert.ok(Buffer.byteLength(page) < 0.85 * MAX_BYTES, `${Buffer.byteLength(page)} bytes`);
      assert.match(page, /\n…$/);
    }
  });

  test('show text from outside as it is', () => {
    const page = runStaticDetails({ siteIds: ['a`1](http://x) <img>'], meta: { '**n**': 'v` [x](y)' } }, START);
    assert.ok(page.includes('`aˋ1](http://x) <img>`'), page);
    assert.ok(page.includes('- `**n**`: `vˋ [x](y)`'), page);
  });
});

test('a link never ends at a bracket or parenthesis of an id', () => {
  assert.equal(
    workflowLink("deploy-site:(a)'b", { runId: 'r1' }),
    "[`deploy-site:(a)'b`](namespaces/{namespace}/workflows/deploy-site%3A%28a%29'b/r1)",
  );
  assert.equal(workflowLink('x](http://evil'), '`x](http://evil`');
});
