import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { backupServerId } from '../../../src/contract/ids/workflow-ids.ts';
import { QUERIES } from '../../../src/contract/run.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { fresh, startWorld, type World } from '../../support/world.ts';

const HANGING = 200;

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: { ends: 'never' }, deployment: { durationMs: 500 } } });
});

async function elapsedMs(what: () => Promise<unknown>): Promise<number> {
  const startedMs = Date.now();
  await what();
  return Date.now() - startedMs;
}

/** The time of a run, of a hint until its read, and of a query, while nothing or everything else hangs. */
async function measure(): Promise<Record<'run' | 'hint' | 'query', number>> {
  const [siteId, serverId] = [fresh('a'), fresh('s')];
  const waiting = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 300_000, tries: 2 } });
  const backup = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]);
  const operation = world.client.workflow.getHandle(backupServerId(serverId));
  const path = `/v1/backups/${backup.began?.id}`;
  const query = await elapsedMs(() => operation.query(QUERIES.progress));
  const hint = await elapsedMs(async () => {
    await operation.signal('hint');
    await eventually('the hinted read', () => reads(world.sandbox, path).length > 0);
  });
  const run = await elapsedMs(async () => {
    const deploying = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 500, tries: 20 } });
    await deploying.result();
  });
  await waiting.cancel();
  return { run, hint, query };
}

async function backupOf(serverId: string): Promise<string> {
  await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 3_000, tries: 1_000 } });
  return eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
}

test('two hundred reads that hang at once delay no hint, query or other run by more than a second', async (t) => {
  const before = await measure();
  const servers = Array.from({ length: HANGING }, () => fresh('s'));
  const ids: string[] = [];
  // Not all at once: it is not the start that is measured.
  while (ids.length < HANGING) {
    const some = servers.slice(ids.length, ids.length + 25);
    ids.push(...(await Promise.all(some.map(backupOf))));
  }
  for (const target of ids) world.sandbox.fault({ route: 'backup', target, times: 100, answer: { kind: 'none' } });
  const hung = () =>
    ids.filter((id) => reads(world.sandbox, `/v1/backups/${id}`).some(({ fault }) => fault === 'none'));
  await eventually('all of them to hang', () => hung().length === HANGING);
  const during = await measure();
  const own = world.client.workflow.getHandle(backupServerId(servers[0] ?? ''));
  const ownQuery = await elapsedMs(() => own.query(QUERIES.progress));
  t.diagnostic(`undisturbed: ${JSON.stringify(before)} ms; among ${HANGING} that hang: ${JSON.stringify(during)} ms`);
  t.diagnostic(`a query to one of those that hang: ${ownQuery} ms`);
  // A wide margin for a busy machine: what starves waits for the reads, which hang for 15 s.
  for (const what of ['run', 'hint', 'query'] as const) {
    assert.ok(during[what] - before[what] < 5_000, `${what}: ${during[what]} ms`);
  }
  assert.ok(ownQuery < 5_000);
});

test('every local activity has one attempt', () => {
  const folder = new URL('../../../src/workflows/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const proxies = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/proxyLocalActivities<\w+>\(([^)]*)\)/g)].map(
      ([, options = '']) => options,
    ),
  );
  assert.ok(proxies.length > 0);
  for (const options of proxies) assert.match(options, /retry: \{ maximumAttempts: 1 \}/);
});
