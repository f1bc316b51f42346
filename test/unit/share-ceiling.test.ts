import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/process/log.ts';
import { identityText } from '../../src/contract/worker-identity.ts';
import { shareCeiling, sharers } from '../../src/worker/share-ceiling.ts';

const SERVICE = 'https://service.example';
const worker = (where: string, service = SERVICE) =>
  identityText({ version: '1', where, service, since: '2026-01-01T00:00:00.000Z' });
const own = { identity: worker('host:1'), served: { service: SERVICE, formerly: ['https://old.example'] } };

for (const [what, identities, count] of [
  ['a worker that is not listed yet', [], 1],
  ['itself', [own.identity], 1],
  ['another worker of the service', [own.identity, worker('host:2')], 2],
  ['a worker that is listed twice', [own.identity, worker('host:2'), worker('host:2')], 2],
  ['a worker of the former URL', [own.identity, worker('host:2', 'https://old.example')], 2],
  ['neither another service nor another program', [own.identity, worker('x:1', 'https://other.example'), 'tctl'], 1],
] as const) {
  test(`the ceiling is divided among ${count}, counting ${what}`, () => {
    assert.equal(sharers(identities, own), count);
  });
}

/** The shares that a worker sets until its count has been asked for this often. */
async function sharesOf(ceiling: number | null, ...counts: (() => Promise<number>)[]): Promise<(number | null)[]> {
  const shares: (number | null)[] = [];
  const ended = new AbortController();
  const count = () => {
    const next = counts.shift();
    if (counts.length === 0) ended.abort();
    return next === undefined ? Promise.reject(new Error('no answer')) : next();
  };
  await shareCeiling({ setShare: (share) => void shares.push(share) }, ceiling, count, {
    log: createLogger('silent'),
    ended: ended.signal,
  });
  return shares;
}

test('a worker has the whole ceiling until it has counted, then its share', async () => {
  assert.deepEqual(await sharesOf(12, () => Promise.resolve(3)), [12, 4]);
});

test('a worker keeps its share if Temporal does not answer', async () => {
  assert.deepEqual(await sharesOf(12, () => Promise.reject(new Error('14 UNAVAILABLE'))), [12]);
});

test('without a ceiling, nothing is counted', async () => {
  assert.deepEqual(await sharesOf(null, () => assert.fail('counted')), [null]);
});
