/** `belay top --site`, without Temporal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { targetsTable, showTargets } from '../../src/features/overview/actions.ts';
import { createTargetReader } from '../../src/cli/target-reader.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { literalService } from '../support/literal.ts';
import { Keys, screenOf } from '../support/screen.ts';

const token = () => Promise.resolve('t');
const sites = (...ids: string[]) => ids.map(siteTarget);

test('the screen of sites follows what the service reports, shows failures in their row, and ends with q', async () => {
  const sandbox = await startSandbox({ token: 't' });
  atEnd(() => sandbox.close());
  for (const site of ['a1', 'a2']) {
    sandbox.script({ site }, { ends: 'never', words: ['building'] });
    sandbox.act({ site });
  }
  const [screen, keys] = [screenOf({ columns: 120 }), new Keys()];
  const terminal = { output: screen.stream, input: keys.stream };
  const reader = createTargetReader({ baseUrl: sandbox.url, token });
  const shown = showTargets(reader, sites('a1', 'a2', 'a3'), 50, terminal);
  const row = (pattern: RegExp) => eventually(String(pattern), () => screen.rows().some((it) => pattern.test(it)));
  await row(/^a1 +building +\d+ s +\d+ s ago$/);
  await row(/^a3 +– +– +– +404 /);
  sandbox.finish({ site: 'a1' }, 'completed');
  await row(/^a1 +completed +\d+ s +\d+ s ago$/);
  sandbox.setToken('another');
  // The last status stays.
  await row(/^a2 +building .* 401 /);
  keys.press('q');
  assert.equal(await shown, 0);
  assert.ok(sandbox.journal.every(({ request }) => !request.startsWith('POST')));
});

test('a service that asks for a pause gets no read of another site before its end', async () => {
  const { url, requests } = await literalService((_request, response) => {
    response.writeHead(429, { 'retry-after': '60' }).end();
  });
  const readings = await createTargetReader({ baseUrl: url, token }).readAll(sites('a1', 'a2', 'a3'));
  assert.deepEqual(requests, ['GET /v1/sites/a1/deployments/latest']);
  const [, ...rows] = targetsTable(readings, Date.now(), Infinity).map((line) =>
    typeof line === 'string' ? line : line.text,
  );
  assert.match(rows[0] ?? '', /^a1 .* 429 Too Many Requests$/);
  for (const row of rows.slice(1)) assert.match(row, /held back for \d+ s: the service asked to wait$/);
});

/** A service that reports every deployment with this word of its own. */
const doneService = () =>
  literalService((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"Done"}');
  });

test('sites are read below a tenth of the ceiling, and a row shows that its read is held back', async () => {
  const { url, requests } = await doneService();
  // One request in 50 seconds.
  const reader = createTargetReader({ baseUrl: url, token, maxRequestsPerSecond: 0.2 });
  const following = reader.follow(sites('a1', 'a2'), 100);
  const second = await eventually('a read that is held back', () => following.readings()[1]?.problem);
  assert.match(second, /^held back for \d+ s: BELAY_MAX_RPS$/);
  assert.equal(following.readings()[0]?.status, 'Done');
  following.stop();
  assert.equal(requests.length, 1);
});

test('a snapshot of sites waits for its turn below the ceiling', async () => {
  const { url } = await doneService();
  // The second turn is further away than a read waits.
  const reader = createTargetReader(
    { baseUrl: url, token, maxRequestsPerSecond: 2.5 },
    { statuses: { deployment: { done: 'completed' } } },
  );
  const readings = await reader.readAll(sites('a1', 'a2'));
  assert.deepEqual(
    readings.map(({ state, problem }) => [state, problem]),
    [
      ['completed', null],
      ['completed', null],
    ],
  );
});

test('a service that cannot be reached is a problem in the row', async () => {
  const [reading] = await createTargetReader({ baseUrl: 'http://127.0.0.1:1', token }).readAll(sites('a1'));
  assert.match(reading?.problem ?? '', /^no connection was made \(ECONNREFUSED\)$/);
});
