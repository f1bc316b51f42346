import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { descendants, gone } from '../../../support/process-tree.ts';
import { start, type Finished } from '../../../support/processes.ts';
import { codeBlocks } from '../../../support/readme.ts';
import { tempFolder } from '../../../support/temporal.ts';

describe('belay demo', { concurrency: 1 }, () => {
  let tree: number[];
  let finished: Finished;
  before(async () => {
    const demo = start(['demo'], { BELAY_HOME: await tempFolder() });
    tree = await eventually('its processes', () => {
      const pids = descendants(demo.process.pid ?? 0);
      return pids.length >= 2 ? pids : null;
    });
    finished = await demo.finished;
  });

  test('demo completes a backup and a deployment, prints a link to the Temporal UI, and leaves no process behind', async () => {
    const { code, stdout, stderr } = finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^completed in [\dms]+\n/);
    assert.match(
      stdout,
      /in the Temporal UI: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/backup-then-deploy/,
    );
    await gone(tree);
  });

  test('the demo prints the output that the README shows', () => {
    const block = codeBlocks('').find((text) => text.startsWith('Starting a Temporal server')) ?? '';
    const { stdout, stderr } = finished;
    const printed = new Set((stdout + stderr).split('\n').map(withoutFigures));
    const [progress, fixed] = [true, false].map((is) =>
      block
        .trim()
        .split('\n')
        .filter((it) => PROGRESS.test(it) === is),
    );
    for (const line of fixed ?? []) {
      assert.ok(printed.has(withoutFigures(line)), `not printed: ${line}\n${stderr}${stdout}`);
    }
    // The progress lines of a run depend on timing.
    assert.ok(
      progress?.some((line) => printed.has(withoutFigures(line))),
      stderr,
    );
  });
});

const PROGRESS = /^(backup|deployment) of /;

/** Replaces ids, ports, times and words that differ between runs. */
function withoutFigures(line: string): string {
  return (
    line
      .replace(/workflows\/.*$/, 'workflows/…')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID')
      .replace(/last status "\w+"$/, 'last status ""')
      // A busy machine may miss that it was in progress.
      .replace(/evidence: (?:transition|settled)/, 'evidence: …')
      .replace(/ in [\dms]+$/, ' in …')
      .replace(/\d+ (of|polls)\b/g, 'N $1')
      .replace(/:\d{4,5}\//, ':PORT/')
  );
}
