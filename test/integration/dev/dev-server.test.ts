import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTemporal, temporalExecutable, tempFolder } from '../../support/temporal.ts';

/** A Temporal server that runs this script at its start and dies: the first time, or every time. */
async function dying(words: string, whenever: 'first' | 'always'): Promise<{ executable: string; died: string }> {
  const folder = await tempFolder();
  const [executable, died] = [join(folder, 'temporal'), join(folder, 'died')];
  const again = whenever === 'first' ? `[ -e ${died} ] && exec ${await temporalExecutable()} "$@"` : ':';
  await writeFile(executable, `#!/bin/sh\n${again}\ntouch ${died}\n${words}\nexit 2\n`, { mode: 0o755 });
  return { executable, died };
}

test('a Temporal server that dies during its start is started again', async () => {
  const { executable, died } = await dying(':', 'first');
  const server = await startTemporal({ executable });
  assert.ok(existsSync(died));
  assert.match(server.address, /^127\.0\.0\.1:\d+$/);
  assert.equal((await fetch(server.uiUrl)).status, 200);
  // Others of this file go on for minutes.
  await server.stop();
});

test('a Temporal server that never starts is reported with its error and without the stack trace', async () => {
  const trace = Array.from({ length: 20 }, (_, line) => `echo "at line ${line}"`).join('\n');
  const { executable } = await dying(`echo "panic: no port is left"\n${trace}`, 'always');
  await assert.rejects(startTemporal({ executable }), ({ message }: Error) => {
    const told =
      /^the Temporal server did not start: it exited( at once)?\npanic: no port is left\n\(.*temporal\.log\)$/;
    assert.match(message, told);
    return true;
  });
});
