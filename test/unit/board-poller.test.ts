import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { TIMING } from '../../src/contract/timing.ts';
import { createBoardPoller, type BoardTime, type BoardSource } from '../../src/features/board/poller.ts';

/** Time that passes when the test says so. */
class Virtual implements BoardTime {
  private timeMs = Date.parse('2026-03-02T08:00:00.000Z');
  private sleepers: { atMs: number; wake: () => void }[] = [];
  readonly nowMs = () => this.timeMs;
  readonly sleep = (ms: number) =>
    new Promise<void>((wake) => void this.sleepers.push({ atMs: this.timeMs + ms, wake }));

  async pass(ms: number, each: () => void = () => undefined): Promise<void> {
    for (const endMs = this.timeMs + ms; this.timeMs < endMs;) {
      this.timeMs += 1_000;
      each();
      const due = this.sleepers.filter(({ atMs }) => atMs <= this.timeMs);
      this.sleepers = this.sleepers.filter((it) => !due.includes(it));
      for (const { wake } of due) wake();
      await turn();
    }
  }
}

function counted(everyMs: number, name = 'a source'): BoardSource & { reads: number } {
  const source = { name, everyMs, reads: 0, read: () => Promise.resolve(void (source.reads += 1)) };
  return source;
}

async function readsIn(ms: number, viewers: number): Promise<number[]> {
  const [time, sources] = [new Virtual(), [counted(2_000), counted(10_000), counted(60_000)]];
  const poller = createBoardPoller(sources, time);
  const pages = Array.from({ length: viewers }, () => () => void poller.look());
  await time.pass(ms, () => {
    // A page looks again every five seconds.
    if (time.nowMs() % 5_000 === 0) for (const look of pages) look();
  });
  poller.stop();
  return sources.map(({ reads }) => reads);
}

test('fifty viewers cost Temporal and the service as many reads in a minute as one', async () => {
  const [one, fifty] = [await readsIn(60_000, 1), await readsIn(60_000, 50)];
  assert.deepEqual(fifty, one);
  assert.deepEqual(one, [28, 6, 1]);
});

test('nothing is read before someone looks, and nothing any more once nobody has looked for a while', async () => {
  const [time, source] = [new Virtual(), counted(2_000)];
  const poller = createBoardPoller([source], time);
  await time.pass(60_000);
  assert.equal(source.reads, 0);
  await poller.look();
  await time.pass(TIMING.board.lingerMs);
  const { reads } = source;
  assert.ok(reads > 1);
  await time.pass(600_000);
  assert.equal(source.reads, reads);
  await poller.look();
  assert.equal(source.reads, reads + 1);
  poller.stop();
});

test('the first look waits for a source to answer, but not for long', async () => {
  const time = new Virtual();
  const poller = createBoardPoller([{ name: 'slow', everyMs: 1_000, read: () => new Promise(() => undefined) }], time);
  let shown = false;
  const looking = poller.look().then(() => (shown = true));
  await time.pass(TIMING.board.firstReadMs - 1_000);
  assert.equal(shown, false);
  await time.pass(1_000);
  await looking;
  poller.stop();
});

test('a source that fails is named with the time of its first failure, until it works again', async () => {
  const time = new Virtual();
  let away = true;
  const read = () => (away ? Promise.reject(new Error('Temporal does not answer')) : Promise.resolve());
  const poller = createBoardPoller([{ name: 'workers', everyMs: 1_000, read }, counted(1_000)], time);
  await poller.look();
  const since = '2026-03-02T08:00:00.000Z';
  await time.pass(10_000);
  assert.deepEqual(poller.problems(), [{ source: 'workers', message: 'Temporal does not answer', since }]);
  away = false;
  await time.pass(2_000);
  assert.deepEqual(poller.problems(), []);
  poller.stop();
});
