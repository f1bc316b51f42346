import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTemporal, temporalExecutable, tempFolder } from '../../support/temporal.ts';

/** A Temporal server that dies of this when it starts: the first time, or ever. */
async function dying(words: string, whenever: 'first' | 'always'): Promise<{ executable: string; died: string }> {
  const folder = await tempFolder();
  const [executable, died] = [join(folder, 'temporal'), join(folder, 'died')];
  const again = whenever === 'first' ? `[ -e ${died} ] && exec ${await temporalExecutable()} "$@"` : ':';
  await writeFile(executable, `#!/bin/sh\n${again}\ntouch ${died}\n${words}\nexit 2\n`, { mode: 0o755 });
  return { executable, died };
}

test('a Temporal server that dies while it starts, as when a port of its own was taken, is started again', async () => {
  const { executable, died } = await dying(':', 'first');
  const { address, uiUrl } = await startTemporal({ executable });
  assert.ok(existsSync(died));
  assert.match(address, /^127\.0\.0\.1:\d+$/);
  assert.equal((await fetch(uiUrl)).status, 200);
});

test('why one never starts is told without the trace behind it', async () => {
  const trace = Array.from({ length: 20 }, (_, line) => `echo "at line ${line}"`).join('\n');
  const { executable } = await dying(`echo "panic: no port is left"\n${trace}`, 'always');
  await assert.rejects(startTemporal({ executable }), ({ message }: Error) => {
    const told =
      /^the Temporal server did not start: it ended( at once)?\npanic: no port is left\n\(.*temporal\.log\)$/;
    assert.match(message, told);
    return true;
  });
});
