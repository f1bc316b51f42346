import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { literalService } from '../../support/literal.ts';
import { start } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

test('a worker does not poll for a page that is not the service, and ends with 0 on SIGTERM', async () => {
  const { url } = await literalService((_request, response) => void response.writeHead(404).end('<h1>Parked</h1>'));
  const service = { BELAY_API_URL: url, BELAY_API_TOKEN: TOKEN };
  const { process, output, finished } = start(['worker'], { ...temporalEnv(await newPlace()), ...service });
  const parked = /not ready: \S+ does not look like the service/;
  await eventually('a word', () => parked.test(output.stderr));
  process.kill('SIGTERM');
  const { code, stderr } = await finished;
  assert.deepEqual([code, stderr.includes('"polling"')], [0, false], stderr);
});
