import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSteadiness } from '../../bench/load/spin.ts';
import { shuffled, takeTurns } from '../../bench/load/rounds.ts';
import { isQuickPart, MINUTES_OF_ALL, minutesOfAll, PARTS, shareOfFirst, type PartName } from '../../bench/parts.ts';
import { numbers, parseOptions, positive } from '../../bench/report/options.ts';
import { tableText } from '../../bench/report/report.ts';
import { createOperations } from '../../bench/service/operations.ts';

const names = Object.keys(PARTS) as PartName[];
const minutes = minutesOfAll(names, false);
const quickMinutes = minutesOfAll(names.filter(isQuickPart), true);

test('the parts of the benchmark fit into two hours, and the quick ones into ten minutes of a busy machine', () => {
  assert.ok(minutes <= MINUTES_OF_ALL.full, String(minutes));
  assert.ok(quickMinutes <= 0.6 * MINUTES_OF_ALL.quick, String(quickMinutes));
});

test('a part of the benchmark gets its share of the time that is left', () => {
  const total = minutesOfAll(['ways', 'rollout'], false);
  assert.equal(shareOfFirst(['ways', 'rollout'], false, total), PARTS.ways.minutes);
  assert.equal(shareOfFirst(['ways', 'rollout'], false, total / 2), PARTS.ways.minutes / 2);
  assert.equal(shareOfFirst(['rollout'], false, 3), 3);
});

test('the options of a part are read, and others are refused', () => {
  assert.deepEqual(parseOptions(['--quick', '--counts=5,10'], ['counts']), {
    ...{ isQuick: true, minutes: undefined, folder: '.belay/bench', given: { counts: '5,10' }, positionals: [] },
  });
  assert.equal(parseOptions(['--minutes', '2.5'], []).minutes, 2.5);
  assert.throws(() => parseOptions(['--minutes', '0'], []), /--minutes/);
  assert.throws(() => parseOptions(['--count', '5'], ['counts']), /--count/);
  assert.throws(() => parseOptions(['ways'], []), /ways/);
  assert.deepEqual(parseOptions(['ways', '--out', 'here'], [], true).positionals, ['ways']);
});

test('numbers are read from an option, and a mistake names the option', () => {
  assert.deepEqual(numbers({ counts: '100,400' }, 'counts', [1]), [100, 400]);
  assert.deepEqual(numbers({}, 'counts', [1, 2]), [1, 2]);
  assert.equal(positive({ rounds: '3' }, 'rounds', 1), 3);
  for (const wrong of ['', 'x', '0', '-1', '5,', '1,x']) {
    assert.throws(() => numbers({ counts: wrong }, 'counts', [1]), /--counts/, wrong);
  }
});

test('a table has columns that line up', () => {
  assert.equal(
    tableText({ title: 'Title', head: ['way', 'ms'], rows: [['loop', '7'], ['pooled waits']] }),
    [
      ...['Title:', ''],
      '| way          | ms  |',
      '| ------------ | --- |',
      '| loop         | 7   |',
      '| pooled waits |     |',
    ].join('\n'),
  );
});

test('ways take turns in every round until the deadline, and one has a turn in any case', async () => {
  const made: string[] = [];
  const note = async (way: string, round: number) => void made.push(`${way}${round}`);
  assert.deepEqual(await takeTurns(['a', 'b'], 2, Infinity, note), { rounds: 2, missed: [] });
  assert.deepEqual(made.splice(0).sort(), ['a0', 'a1', 'b0', 'b1']);
  const { rounds, missed } = await takeTurns(['a', 'b'], 2, Date.now() - 1, note);
  assert.deepEqual([rounds, missed.length, made.length], [1, 1, 1]);
});

test('the order of a round is drawn, and loses nothing', () => {
  assert.deepEqual(shuffled([1, 2, 3, 4]).sort(), [1, 2, 3, 4]);
});

test('a measurement on a slower machine is made again, as often as allowed, and counted', async () => {
  const spins = [100, 104, 120, 130, 101];
  const measure = async () => ({ spinMs: [spins.shift()!] });
  const steadiness = createSteadiness(1);
  const kept = [
    await steadiness.measure(measure),
    await steadiness.measure(measure),
    await steadiness.measure(measure),
  ];
  assert.deepEqual(
    kept.map(({ spinMs }) => spinMs[0]),
    [100, 104, 130],
  );
  assert.equal(steadiness.again, 1);
});

test('the service of the benchmark answers the four endpoints, and counts what arrives', () => {
  const service = createOperations('token');
  const ask = (request: string, nowMs: number) => {
    const [method = '', path = ''] = request.split(' ');
    const { code, body } = service.answer(method, path, 'Bearer token', nowMs);
    return [code, (body as { status?: string }).status];
  };
  const latest = 'GET /v1/sites/a1/deployments/latest';
  assert.deepEqual(ask(latest, 1), [404, undefined]);
  assert.equal(ask('POST /v1/sites/a1/deploy', 2)[0], 200);
  assert.deepEqual(ask(latest, 3), [200, 'building']);
  assert.deepEqual(service.answer('POST', '/v1/servers/s1/backups', 'Bearer token', 4), {
    code: 201,
    body: { id: '1' },
  });
  assert.deepEqual(ask('GET /v1/backups/1', 5), [200, 'building']);
  assert.deepEqual(ask('GET /v1/backups/2', 5), [404, undefined]);
  assert.equal(service.answer('POST', '/v1/sites/a1/deploy', undefined, 6).code, 401);
  assert.equal(ask('POST /v1/sites/a1/deploy', 7)[0], 200);
  assert.deepEqual({ ...service.counts() }, { begun: 2, again: 1, reads: 2 });
  const { targets, posts, reads } = service.take();
  assert.deepEqual(
    posts.target.map((target, index) => [targets[target], posts.atMs[index]]),
    [
      ['a1', 2],
      ['s1', 4],
      ['a1', 7],
    ],
  );
  assert.deepEqual(
    reads.target.map((target) => targets[target]),
    ['a1', 's1'],
  );
  assert.deepEqual(service.take().posts.target, []);
});

test('operations at the service of the benchmark end after their duration, or when all are ended', () => {
  const service = createOperations('token');
  const begin = (site: string) => service.answer('POST', `/v1/sites/${site}/deploy`, 'Bearer token', 0);
  const statusOf = (site: string, nowMs: number) =>
    service.answer('GET', `/v1/sites/${site}/deployments/latest`, 'Bearer token', nowMs).body;
  begin('long');
  service.setDuration(100);
  begin('short');
  assert.deepEqual(statusOf('short', 99), { status: 'building' });
  assert.deepEqual(statusOf('short', 100), { status: 'completed' });
  assert.deepEqual(statusOf('long', 1e12), { status: 'building' });
  service.endAll('failed');
  assert.deepEqual(statusOf('long', 1), { status: 'failed' });
  assert.deepEqual(service.take().reads.isFinal, [false, true, false, true]);
});
