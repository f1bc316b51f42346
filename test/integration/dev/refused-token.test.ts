import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { workersSeen } from '../../../src/client/workers.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { start } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

test("a dev on another's Temporal polls nothing while the service refuses its token, and ends with 0 on SIGINT", async () => {
  const place = await newPlace();
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  const pollers = () => workersSeen(connection, place.namespace, 'belay');
  const [home, file] = [await tempFolder(), join(await tempFolder(), 'token')];
  await writeFile(file, 'stale');
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN_FILE: file };
  const dev = start(['dev', '--json', '--webhook-port', '0'], {
    ...temporalEnv(place),
    ...service,
    BELAY_HOME: home,
  });
  const { output } = dev;
  const refusals = () => output.stderr.split('the service rejects the API token').length - 1;
  await eventually('a refusal', () => refusals() > 0);
  assert.match(output.stderr, /not ready: the service rejects the API token/);
  // It asked again, and so had the time to poll.
  await eventually('another refusal', () => refusals() > 1);
  assert.deepEqual([await pollers(), output.stdout], [[], '']);
  await writeFile(file, TOKEN);
  await eventually('its line', () => output.stdout.includes('"temporal"'));
  await eventually('its poll', async () => (await pollers()).length === 1);
  dev.process.kill('SIGINT');
  assert.equal((await dev.finished).code, 0);
});
