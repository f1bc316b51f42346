import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { metricsAddress } from '../../src/config/environment/environment.ts';
import { TIMING } from '../../src/contract/timing.ts';
import type { PollingWorker } from '../../src/worker/monitoring.ts';
import { createReadiness, createReadinessLog } from '../../src/worker/monitoring-server.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A worker whose state and polls a test sets. */
function workerWith(initial: { state: string; polledMs: number | null }) {
  const worker = { ...initial, isAway: false };
  const polling = {
    workers: [{ getState: () => worker.state }],
    polledMs: () => (worker.isAway ? Promise.reject(new Error('away')) : Promise.resolve(worker.polledMs)),
    nowMs: () => Promise.resolve(0),
  } as PollingWorker;
  const clock = { nowMs: 0 };
  return {
    worker,
    clock,
    problem: createReadiness(
      () => polling,
      () => clock.nowMs,
    ),
  };
}

describe('the readiness of a worker', () => {
  test('waits for the worker', async () => {
    assert.match(String(await createReadiness(() => null)()), /waits for Temporal and for the hosting service/);
  });

  test('follows its polls, whatever the clocks say', async () => {
    const { worker, clock, problem } = workerWith({ state: 'RUNNING', polledMs: 5 });
    assert.equal(await problem(), null);
    clock.nowMs += 69 * SECOND;
    assert.equal(await problem(), null);
    clock.nowMs += SECOND;
    assert.match(String(await problem()), /sees no polls/);
    worker.polledMs = 6;
    assert.equal(await problem(), null);
  });

  test('ends 70 s after Temporal was last seen to list it', async () => {
    const { worker, clock, problem } = workerWith({ state: 'RUNNING', polledMs: 5 });
    assert.equal(await problem(), null);
    worker.isAway = true;
    assert.equal(await problem(), null);
    clock.nowMs += 70 * SECOND;
    assert.match(String(await problem()), /sees no polls/);
  });

  test('ends when the worker stops', async () => {
    const { worker, problem } = workerWith({ state: 'RUNNING', polledMs: 5 });
    worker.state = 'DRAINING';
    assert.equal(await problem(), 'the worker is draining');
  });
});

describe('the log of a worker that is not ready', () => {
  test('has one line a minute with the reason, and one when the worker is ready again', async () => {
    let why: string | null = null;
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const look = createReadinessLog(() => Promise.resolve(why), { info: write, warn: write });
    const looks = async (count: number) => {
      for (let made = 0; made < count; made += 1) await look();
    };
    const aMinute = MINUTE / TIMING.worker.readinessLookMs;
    await looks(aMinute);
    assert.deepEqual(lines, []);
    why = 'Temporal sees no polls of this worker';
    await looks(2 * aMinute);
    const line = `not ready: ${why}; it continues by itself`;
    assert.deepEqual(lines, [line, line]);
    why = null;
    await looks(2);
    assert.deepEqual(lines, [line, line, 'ready again']);
  });
});

describe('BELAY_METRICS_ADDRESS', () => {
  const parse = (text: string) => metricsAddress({ BELAY_METRICS_ADDRESS: text });

  test('is a host and a port, or a port on every address', () => {
    assert.deepEqual(parse('127.0.0.1:9464'), { host: '127.0.0.1', port: 9464 });
    assert.deepEqual(parse('[::1]:0'), { host: '::1', port: 0 });
    assert.deepEqual(parse(':9464'), { host: '0.0.0.0', port: 9464 });
    assert.equal(parse(' '), null);
  });

  test('is refused with its remedy if it is something else', () => {
    for (const text of ['9464', 'localhost', 'localhost:65536', 'http://localhost:9464', 'a b:1'])
      assert.throws(() => parse(text), /BELAY_METRICS_ADDRESS is not an address: give host:port/);
  });
});
