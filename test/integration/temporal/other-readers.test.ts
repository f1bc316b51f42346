/** What else of Belay stores and reads in Temporal, with encryption: schedules, rollouts, events, doctor. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { ServiceEvent } from '../../../src/features/events/shapes.ts';
import { openEventStore } from '../../../src/features/events/client-store.ts';
import type { EventDetails } from '../../../src/starter.ts';
import type { RolloutResult } from '../../../src/features/rollouts/shapes.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { startPlace, type Place } from './namespaces.ts';

const FILE = `
fleets:
  shop:
    servers: { shop-server: { sites: [shop-site] } }
rollouts:
  steady:
    fleet: shop
    backup: { interval: 500ms, tries: 1000 }
    deploy: { interval: 500ms, tries: 1000 }
schedules:
  nightly:
    start: { rollout: steady }
    cron: '30 2 * * *'
`;

let place: Place;
let env: Record<string, string>;
before(async () => {
  place = await startPlace();
  const file = join(await tempFolder(), 'belay.yaml');
  await writeFile(file, FILE);
  env = { ...place.withKeys, BELAY_CONFIG: file };
});

const read = async (...args: string[]) => {
  const { code, stdout, stderr } = await place.belay('encrypted', env, ...args, '--json');
  return { code, stderr, document: JSON.parse(stdout) as unknown };
};

describe('with encryption', () => {
  test('a schedule that was applied is unchanged, and is listed as it is written', async () => {
    const apply = async () => {
      const { document } = await read('schedule', 'apply');
      return (document as { changes: { action: string }[] }).changes.map(({ action }) => action);
    };
    assert.deepEqual([await apply(), await apply()], [['create'], ['none']]);
    const listed = await eventually('the schedule', async () => {
      const { document } = await read('schedule', 'list');
      // A busy Temporal may not answer for it at once.
      return (document as { schedules: { when: string; answered: boolean }[] }).schedules.find((it) => it.answered);
    });
    assert.equal(listed.when, '30 2 * * *');
  });

  test('a rollout and its run report their results', async () => {
    const { code, document, stderr } = await read('rollout', 'start', 'steady', '--key', 'k');
    assert.equal(code, 0, stderr);
    const { outcome, targets } = document as RolloutResult;
    assert.equal(outcome, 'completed');
    assert.equal(targets[0]?.deployments[0]?.outcome, 'completed');
  });

  test('an event is stored, handled and shown', async () => {
    Object.assign(process.env, place.withKeys);
    const opening = openEventStore({ address: place.address, namespace: 'encrypted' });
    delete process.env.BELAY_CODEC_KEYS_FILE;
    const store = await opening;
    const named = { serverId: 'shop-server', siteId: null, backupId: null, at: null };
    const event: ServiceEvent = { kind: 'alert.fired', rawKind: 'event-canary', ...named };
    const from = { source: 'panel', deliveryId: 'd1', verified: true, receivedAt: new Date().toISOString() };
    assert.ok(await store.accept({ ...from, event, freshForMs: 60_000, reactions: [], body: 'body-canary' }));
    await store.close();
    const shown = await eventually('the event', async () => {
      const { document } = await read('events', 'show', 'event:panel:d1');
      const { event: found } = document as { event: EventDetails };
      return found.result !== null && found;
    });
    assert.deepEqual([shown.event.rawKind, shown.body], ['event-canary', 'body-canary']);
    const text = await place.databaseText();
    assert.ok(!text.includes('event-canary') && !text.includes('body-canary'));
  });

  test('what was stored is named by commands that lack the key, and a freeze holds', async () => {
    const { BELAY_CONFIG = '' } = env;
    const without = async (...args: string[]) => {
      const { code, stdout, stderr } = await place.belay('encrypted', { BELAY_CONFIG }, ...args, '--json');
      assert.match(
        stderr,
        /cannot read all of .* key "2026-11": set BELAY_CODEC_KEYS_FILE/m,
        `${args.join(' ')}: ${stdout}`,
      );
      return { code, stderr, document: JSON.parse(stdout) as unknown };
    };
    const begun = await read('freeze', '--site', 'shop-site', '--for', '1h', '--reason', 'canary');
    assert.equal(begun.code, 0, begun.stderr);
    for (const asked of [[], ['--site', 'shop-site']]) {
      const { code, stderr, document } = await eventually('the freeze in the list', async () => {
        const found = await place.belay('encrypted', { BELAY_CONFIG }, 'freezes', ...asked, '--json');
        return found.code !== 0 && without('freezes', ...asked);
      });
      assert.match(stderr, /cannot read all of freeze:site:shop-site/);
      const { frozen, freezes } = document as { frozen: boolean; freezes: { isActive: boolean; blocks: string[] }[] };
      assert.deepEqual([code, frozen, freezes[0]?.isActive, freezes[0]?.blocks], [5, true, true, ['deploy', 'backup']]);
    }
    const thawed = await place.belay('encrypted', {}, 'thaw', '--site', 'shop-site', '--reason', 'canary', '--json');
    assert.equal(thawed.code, 0, thawed.stderr);
    const asked = ['advice', '--server', 'shop-server', '--site', 'shop-site'];
    // Temporal updates its lists a moment later.
    await eventually('both operations in the list', async () => {
      const { stdout } = await place.belay('encrypted', { BELAY_CONFIG }, ...asked, '--json');
      return (JSON.parse(stdout) as { operations: unknown[] }).operations.length === 2;
    });
    const advice = await without(...asked);
    assert.match(advice.stderr, /cannot read all of \S+ and 1 other/);
    const { operations } = advice.document as { operations: { kind: string; n: number }[] };
    assert.deepEqual(operations.map(({ kind, n }) => `${kind} ${n}`).sort(), ['backup 0', 'deployment 0']);
    const events = await without('events');
    assert.match(events.stderr, /cannot read all of event:panel:d1/);
    const schedules = await without('schedule', 'list');
    assert.match(schedules.stderr, /cannot read all of belay:shop:nightly/);
    assert.deepEqual([advice.code, events.code, schedules.code], [0, 0, 0]);
  });

  test('doctor reports the key, and whether it agrees with the workers', async () => {
    const checkOf = async (more: Record<string, string>) => {
      const { stdout } = await place.belay('encrypted', more, 'doctor', '--json');
      const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; message: string }[] };
      return checks.find(({ name }) => name === 'encryption');
    };
    assert.equal((await checkOf(env))?.message, 'encrypts with the key "2026-11", and decrypts with it');
    assert.equal((await checkOf({ ...env, BELAY_CODEC_ACCEPT_PLAIN: '1' }))?.state, 'warning');
    const without = await checkOf({});
    assert.equal(without?.state, 'failed');
    assert.match(without.message, /encrypt, and this program has no key/);
  });

  test('what a run in flight recorded is read after a restore', async () => {
    place.sandbox.script({ site: 'open-site' }, { ends: 'never' });
    const begin = ['deploy', '--site', 'open-site', '--deploy-interval', '500ms', '--deploy-tries', '2000', '--detach'];
    const { code, stderr } = await read(...begin);
    assert.equal(code, 0, stderr);
    await eventually('its epoch', async () => {
      const { document } = await read('doctor', '--after-restore');
      const { checks } = document as { checks: { name: string; message: string }[] };
      return checks.some(({ name, message }) => name === 'epoch' && /is 1; 2 of 2 runs and operations/.test(message));
    });
    const { stdout } = await place.belay('encrypted', {}, 'doctor', '--after-restore', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; message: string }[] };
    assert.match(checks[0]?.message ?? '', /0 of 2 runs .* and the epoch of 2 cannot be read$/);
    assert.equal(
      checks.filter(({ message }) => /of an epoch that cannot be read: .* key "2026-11"/.test(message)).length,
      2,
    );
    await eventually('its request', () => began(place.sandbox, 'deployment', 'open-site').length > 0);
    place.sandbox.finish({ site: 'open-site' }, 'completed');
  });
});
