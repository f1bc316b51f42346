/** The bundle that ships replays the histories of every version, whole and cut off in mid-flight. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import { cutOff } from '../../histories/cut-off.ts';
import { readHistories, type KeptHistory } from '../../histories/kept.ts';
import { NO_REPORTS } from '../../support/no-reports.ts';
import { isDistCurrent } from '../../../tools/dist-stamp.ts';
import { TOKEN } from '../../support/world.ts';

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
/** What users get; without a current build, the same from source. */
const SHIPPED = isDistCurrent() ? path('dist/workflow-bundle.js') : await bundleFromSource();
const HISTORIES = readHistories();
/** Types that are newer than the last recorded version. Its successor records them: remove them here then. */
const NOT_YET_RECORDED: string[] = [];

/** @returns what went wrong, by the names of the histories */
async function replay(codePath: string, histories: KeptHistory[]): Promise<Map<string, Error>> {
  const errors = new Map<string, Error>();
  let index = 0;
  for await (const { error } of Worker.runReplayHistories({ ...NO_REPORTS, workflowBundle: { codePath } }, histories)) {
    if (error !== undefined) errors.set(histories[index]!.name, error);
    index += 1;
  }
  assert.equal(index, histories.length);
  return errors;
}

const messages = (errors: Map<string, Error>) => [...errors].map(([name, { message }]) => `${name}: ${message}`);

describe('the kept histories', () => {
  test('show every type of workflow', () => {
    const [, exported = ''] = /export \{([^}]*)\}/.exec(readFileSync(path('src/workflows/index.ts'), 'utf8')) ?? [];
    const types = exported.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
    const recorded = [...new Set(HISTORIES.map(({ type }) => type))];
    assert.deepEqual([...recorded, ...NOT_YET_RECORDED].sort(), types.sort());
  });

  test('are replayed by the bundle that ships', async () => {
    assert.deepEqual(messages(await replay(SHIPPED, HISTORIES)), []);
  });

  test('are replayed by the bundle that ships if they are cut off in mid-flight', async () => {
    const open = HISTORIES.map(cutOff).filter((it) => it !== null);
    assert.ok(open.length > HISTORIES.length / 2, `${open.length}`);
    assert.deepEqual(messages(await replay(SHIPPED, open)), []);
  });

  test('are not replayed by a bundle in which runs and operations begin with one more timer', async () => {
    const [from, to] = [path('src/workflows/cancellation.ts'), path('test/histories/one-more-timer.ts')];
    const changed = HISTORIES.filter(({ type }) => ['deployOnly', 'deploySite', 'backupServer'].includes(type));
    const errors = await replay(await bundleFromSource([{ from, to }]), changed);
    assert.deepEqual(
      [...errors.keys()],
      changed.map(({ name }) => name),
    );
    for (const [name, error] of errors)
      assert.equal(error.name, 'DeterminismViolationError', `${name}: ${error.message}`);
  });

  test('contain no token', () => {
    for (const { name, history } of HISTORIES) {
      const text = JSON.stringify(history, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      );
      assert.ok(!text.includes(TOKEN), name);
    }
  });
});
