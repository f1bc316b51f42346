import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { EventInput } from '../../src/features/events/shapes.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { eventId } from '../../src/contract/ids.ts';
import { createCoalescing } from '../../src/webhooks/coalesce.ts';
import { createRateCap } from '../../src/webhooks/rate-cap.ts';
import { standInReceiver } from '../support/stand-in-receiver.ts';

const SECRET = 'key of the generic source';
const VARIABLE = 'SECRET_OF_EVENT_FLOODS';
process.env[VARIABLE] = SECRET;
const GAP_MS = TIMING.webhooks.coalesceMs;

async function receiver(maxPerMinute?: number) {
  const secrets = [{ env: VARIABLE }];
  const panel = { verify: 'hmac-sha256' as const, secrets, header: 'x-signature', fields: { id: 'id' } };
  const sources = { panel: { ...panel, ...(maxPerMinute !== undefined && { maxPerMinute }) } };
  const bounds = { connections: 1, bodies: 1_000 };
  const made = await standInReceiver({ events: { sources } }, { bounds });
  const deliver = (body: object, secret = SECRET) => {
    const payload = JSON.stringify(body);
    const signature = createHmac('sha256', secret).update(payload).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-signature': signature };
    return made.app.inject({ method: 'POST', url: '/webhooks/panel', headers, payload });
  };
  return { ...made, deliver };
}

describe('the rate cap of a source', () => {
  test('answers 429 with Retry-After, and counts it', async () => {
    const { deliver, stored, metrics } = await receiver(3);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { statusCode, headers } = await deliver({ id: `d${n}`, type: 'x' });
      statuses.push(statusCode);
      if (statusCode === 429) assert.match(String(headers['retry-after']), /^([1-9]|1\d|20)$/);
    }
    assert.deepEqual([statuses, stored.length], [[202, 202, 202, 429, 429], 3]);
    assert.match(await metrics(), /rejected_total\{source="panel",reason="too_many"\} 2/);
  });

  test('is not used up by those who cannot sign', async () => {
    const { deliver } = await receiver(1);
    for (let n = 0; n < 5; n += 1) assert.equal((await deliver({ id: 'x' }, 'another secret')).statusCode, 401);
    assert.equal((await deliver({ id: 'x' })).statusCode, 202);
  });

  test('property: allows a minute’s worth, and then no more than its rate', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), pauses, (perMinute, gapsMs) => {
        const cap = createRateCap(perMinute);
        let [nowMs, allowed] = [0, 0];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const waitMs = cap(nowMs);
          if (waitMs === 0) allowed += 1;
          // Whoever waits as long as told is served.
          else assert.equal(createdAgain(cap, nowMs + waitMs), true);
          if (waitMs > 0) [nowMs, allowed] = [nowMs + waitMs, allowed + 1];
        }
        assert.ok(allowed <= perMinute + (nowMs * perMinute) / 60_000 + 1e-6, `${allowed} in ${nowMs} ms`);
      }),
    );
  });
});

const createdAgain = (cap: (nowMs: number) => number, atMs: number) => cap(atMs) === 0;

describe('events of one kind about one server', () => {
  test('share two workflows when a thousand come at once, and the second begins after all of them', async () => {
    const { deliver, stored, metrics } = await receiver();
    const bodies = Array.from({ length: 1_000 }, (_, n) => ({ id: `d${n}`, type: 'alert.fired', server_id: 12 }));
    const answers = await Promise.all(bodies.map((body) => deliver(body)));
    assert.deepEqual(new Set(answers.map(({ statusCode }) => statusCode)), new Set([202]));
    // A busy machine may need longer than the gap.
    assert.ok(stored.length < 10, `${stored.length} workflows`);
    const [first, second] = stored;
    assert.equal(first?.startDelayMs, 0);
    assert.ok(second !== undefined && second.startDelayMs > 0 && second.startDelayMs <= GAP_MS);
    const ids = new Set(stored.map(({ event }) => eventId(event.source, event.deliveryId)));
    for (const answer of answers) assert.ok(ids.has(answer.json<{ event: string }>().event));
    assert.match(await metrics(), new RegExp(`coalesced_total\\{source="panel"\\} ${1_000 - stored.length}`));
  });

  test('are separate workflows if the kind, the word, a resource or the source differs, or nothing is named', async () => {
    const { deliver, stored } = await receiver();
    const bodies = [
      { type: 'alert.fired', server_id: 12 },
      { type: 'alert_fired', server_id: 12 },
      { type: 'alert.fired', server_id: 13 },
      { type: 'alert.fired', server_id: 12, site_id: 1 },
      { type: 'alert.fired' },
      { type: 'alert.fired' },
    ];
    for (const [n, body] of bodies.entries()) await deliver({ id: `d${n}`, ...body });
    assert.deepEqual(
      stored.map(({ startDelayMs }) => startDelayMs),
      bodies.map(() => 0),
    );
  });

  test('are repeats if they come again, even if another event stands for them', async () => {
    const { deliver } = await receiver();
    const answersOf = async () => {
      const bodies = ['a', 'b', 'c'].map((id) => ({ id, type: 'x', server_id: 12 }));
      const answers = await Promise.all(bodies.map((body) => deliver(body)));
      return answers.map((it) => [it.statusCode, it.json<{ event: string }>().event] as const);
    };
    const first = await answersOf();
    assert.deepEqual(new Set(first.map(([status]) => status)), new Set([202]));
    assert.deepEqual(
      await answersOf(),
      first.map(([, event]) => [200, event]),
    );
  });
});

const NEVER_ACCEPTED = { acceptedAtMs: () => Promise.resolve(null) };

describe('coalescing', () => {
  const input = (deliveryId: string): EventInput => ({
    ...{ source: 'panel', deliveryId, verified: true, receivedAt: '', freshForMs: 1, reactions: [], body: null },
    event: { kind: 'unknown', rawKind: 'x', serverId: '12', siteId: null, backupId: null, at: null },
  });

  test('starts one workflow per gap in a flood, each after the events that it stands for', async () => {
    let nowMs = 0;
    const starts: number[] = [];
    const store = { accept: (_: EventInput, delayMs = 0) => Promise.resolve(starts.push(nowMs + delayMs) > 0) };
    const { accept } = createCoalescing({ ...NEVER_ACCEPTED, ...store }, () => nowMs);
    for (let n = 0; n < 1_000; n += 1) {
      nowMs += 10;
      const { isCoalesced } = await accept(input(`d${n}`));
      assert.ok(!isCoalesced || starts.at(-1)! > nowMs, 'an event was dropped');
    }
    assert.ok(starts.length <= 1 + Math.ceil(10_000 / GAP_MS), `${starts.length} workflows`);
  });

  test('knows when a delivery that another one stands for was accepted', async () => {
    const acceptedAtMs = (_: string, deliveryId: string) => Promise.resolve(deliveryId === 'b' ? 7 : null);
    const coalescing = createCoalescing({ accept: () => Promise.resolve(true), acceptedAtMs }, () => 0);
    // The first is handled at once, and the second after the gap, with the third.
    for (const id of ['a', 'b', 'c']) await coalescing.accept(input(id));
    assert.deepEqual(await Promise.all(['c', 'd'].map((id) => coalescing.acceptedAtMs('panel', id))), [7, null]);
  });

  test('never stands an event that is almost too late for one that is fresh', async () => {
    const started: number[] = [];
    const store = { accept: ({ freshForMs }: EventInput) => Promise.resolve(started.push(freshForMs) > 0) };
    const { accept } = createCoalescing({ ...NEVER_ACCEPTED, ...store }, () => 0);
    for (const [n, freshForMs] of [1_000, 1_000, 900_000].entries()) await accept({ ...input(`d${n}`), freshForMs });
    assert.deepEqual(started, [1_000, 1_000, 900_000]);
  });

  test('never stands an event for others that Temporal did not store, or that was a repeat', async () => {
    let stored: Promise<boolean> = Promise.reject(new Error('unavailable'));
    stored.catch(() => undefined);
    const started: string[] = [];
    const store = { accept: (event: EventInput) => (started.push(event.deliveryId), stored) };
    const { accept } = createCoalescing({ ...NEVER_ACCEPTED, ...store }, () => 0);
    const failed = await Promise.allSettled(['a', 'b', 'c'].map((id) => accept(input(id))));
    assert.deepEqual(new Set(failed.map(({ status }) => status)), new Set(['rejected']));
    stored = Promise.resolve(false);
    started.length = 0;
    for (const id of ['a', 'b', 'c']) assert.equal((await accept(input(id))).isNew, false);
    assert.deepEqual(started, ['a', 'b', 'c']);
  });
});
