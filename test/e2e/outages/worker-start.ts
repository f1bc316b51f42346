import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { literalService } from '../../support/literal.ts';
import { start, type Started } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

let temporal: Record<string, string>;
before(async () => {
  temporal = temporalEnv(await newPlace());
});

const logged = ({ output }: Started, words: RegExp) => eventually(String(words), () => words.test(output.stderr));

/** A worker that is not ready for this reason. */
async function notReady(env: Record<string, string>, words: RegExp): Promise<Started> {
  const worker = start(['worker'], { ...temporal, ...env });
  await logged(worker, words);
  assert.ok(!worker.output.stderr.includes('"polling"'));
  return worker;
}

describe('a worker that is not ready', { concurrency: 4 }, () => {
  test('waits for a token that the service accepts, and then polls without another warning', async () => {
    const sandbox = await startSandbox({ token: TOKEN });
    atEnd(() => sandbox.close());
    const file = join(await tempFolder(), 'token');
    await writeFile(file, 'stale');
    const env = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN_FILE: file, BELAY_TASK_QUEUE: 'token' };
    const worker = await notReady(env, /not ready: the service rejects the API token.*trying again in/);
    await writeFile(file, TOKEN);
    await logged(worker, /"polling"/);
    worker.process.kill('SIGTERM');
    const { stderr } = await worker.finished;
    const warnings = stderr.split('\n').filter((line) => /"level":[4-6]0/.test(line));
    assert.deepEqual(
      warnings.filter((line) => !line.includes('not ready')),
      [],
    );
  });

  test('does not poll for a page that is not the service, and ends with 0 on SIGTERM', async () => {
    const { url } = await literalService((_request, response) => void response.writeHead(404).end('<h1>Parked</h1>'));
    const env = { BELAY_API_URL: url, BELAY_API_TOKEN: TOKEN, BELAY_TASK_QUEUE: 'page' };
    const worker = await notReady(env, /not ready: \S+ does not look like the service/);
    worker.process.kill('SIGTERM');
    assert.equal((await worker.finished).code, 0);
  });
});
