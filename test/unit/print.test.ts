import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { textOf } from '../../src/features/notifications/worker-channels.ts';
import { rolloutMarkdown, runMarkdown } from '../../src/cli/markdown-summary.ts';
import type { Outcome } from '../../src/contract/names.ts';
import type { DeploymentResult } from '../../src/contract/run.ts';
import { emptyDeployment, emptyResult, emptyRollout } from '../../src/contract/results.ts';
import { withOwnCommand } from '../../src/process/own-command.ts';
import { printTo, safeJson } from '../../src/process/print.ts';

/** What a stream receives: a terminal, unless the options differ. */
function printed(lines: string | string[], { isTTY = true } = {}): string {
  let all = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      all += chunk.toString();
      done();
    },
  });
  printTo(Object.assign(stream, { isTTY }), lines);
  return all;
}

// eslint-disable-next-line no-control-regex -- colors begin with a control character
const withoutColors = (text: string) => text.replace(/\u001b\[(\d|[1-4]\d|9[0-7])m/g, '');

/** Text with the pieces that terminals and CI runners act on. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b[2J', '\u001b]0;x\u0007', '\u009b2J', '\r', '\n', '\u001b[31m', '\u202e', '\u2028'),
      fc.constantFrom('::add-mask::a', '::error file=x::y', '##[set-env name=A]b', '##vso[task.x]', '##teamcity[x]'),
      fc.constantFrom(' ', ':', '#', '###[x]', ': ::'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
  )
  .map((parts) => parts.join(''));

test('property: no printed text moves the cursor or is a CI command', () => {
  fc.assert(
    fc.property(fc.array(hostile), (lines) => {
      const raw = printed(lines);
      const text = withoutColors(raw);
      // eslint-disable-next-line no-control-regex -- the test asserts that there are none
      assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
      // A color between the two characters makes it another text, so look at the whole line.
      assert.doesNotMatch(raw, /^\s*::/m);
      assert.doesNotMatch(raw, /##\w*\[/);
    }),
    { numRuns: 500 },
  );
});

test('property: a JSON document is one line that a terminal and a CI runner leave alone, and keeps its values', () => {
  fc.assert(
    fc.property(fc.dictionary(hostile, hostile), (document) => {
      const text = safeJson(document);
      // eslint-disable-next-line no-control-regex -- the test asserts that there are none
      assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]|##\w*\[/);
      assert.deepEqual({ ...(JSON.parse(text) as object) }, { ...document });
    }),
    { numRuns: 500 },
  );
});

const COLORED = ['\u001b[32mcompleted\u001b[39m in 3s', '  a: b::c', '# 1'];

test('a terminal receives colors and ordinary lines as they are', () => {
  assert.equal(printed(COLORED), ['\u001b[32mcompleted\u001b[39m in 3s\n', '  a: b::c\n# 1\n'].join(''));
  assert.equal(printed([]), '');
});

test('a pipe or a file receives the lines without colors', () => {
  assert.equal(printed(COLORED, { isTTY: false }), 'completed in 3s\n  a: b::c\n# 1\n');
});

test('property: no text brings a color or a CI command into a pipe', () => {
  fc.assert(
    fc.property(fc.array(hostile), (lines) => {
      const text = printed(lines, { isTTY: false });
      assert.equal(text, withoutColors(text));
      assert.doesNotMatch(text, /^\s*::|##\w*\[/m);
    }),
    { numRuns: 500 },
  );
});

const HOSTILE = '[x](http://y) <img src=z> | @all `code` <!channel>';

test('a summary shows text from outside as code', () => {
  const ui = 'http://127.0.0.1:8233/namespaces/default/workflows/deploy(1)/r/user-metadata';
  const markdown = runMarkdown({
    ...emptyResult(),
    ...{ workflowId: HOSTILE, phase: HOSTILE as never, links: { ui } },
    deployments: [{ ...emptyDeployment({ kind: 'site', id: HOSTILE }), lastStatus: HOSTILE }],
  });
  const outsideCode = markdown.replace(/`[^`]*`/g, '');
  assert.doesNotMatch(outsideCode, /[<@]|http:\/\/y/);
  assert.match(markdown, /\(\[Temporal UI\]\(http:[^()]*deploy%281%29[^()]*\)\)/);
});

test('a summary says what a run was let off, by whom and why, and the evidence of each deployment', () => {
  const times = { from: '2026-03-02T08:00:00Z', to: '2026-03-02T08:00:00Z' };
  const waived = { for: 'check', name: 'front page', ...times, end: 'overridden' } as const;
  const held = [{ ...waived, by: 'ana', why: 'it is down' }];
  const deployments = [{ ...emptyDeployment({ kind: 'site', id: '34' }), evidence: 'transition' as const }];
  const markdown = runMarkdown({ ...emptyResult(), held, deployments });
  assert.match(markdown, /^- was let off the check `front page`, by `ana` because `it is down`$/m);
  assert.match(markdown, /^\| deployment of `34` \| no outcome yet \| transition \|/m);
  assert.match(rolloutMarkdown({ ...emptyRollout(), held }), /^- was let off the check `front page`, by `ana`/m);
});

test('the summary of a run with more parts than it shows begins with those that need attention', () => {
  const part = (id: number, outcome: Outcome) => ({ ...emptyDeployment({ kind: 'site', id: `a${id}` }), outcome });
  const deployments = Array.from({ length: 600 }, (_, id) => part(id, id === 550 ? 'failed' : 'completed'));
  const rows = (shown: DeploymentResult[]) =>
    runMarkdown({ ...emptyResult(), deployments: shown })
      .split('\n')
      .filter((it) => it.startsWith('| deployment'));
  assert.match(rows(deployments)[0]!, /`a550` *\| failed/);
  assert.match(rows(deployments.slice(540, 560))[0]!, /`a540`/, 'in their order if all of them are shown');
});

test('a notification mentions no one and links nowhere', () => {
  const result = { ...emptyResult(), workflowId: HOSTILE, error: { type: 'Terminated', message: HOSTILE } as const };
  const text = textOf({ kind: 'run', id: '1', result, leftOut: 0 });
  assert.doesNotMatch(text, /@\w|\]\(|<[!a-z]/);
});

test('a quoted command of Belay is one that the reader can run', () => {
  assert.equal(
    withOwnCommand('run `belay wait x`, `belay --help` or `belay worker`; belay: `belay` is its name'),
    'run `npx belay-deploy wait x`, `npx belay-deploy --help` or `npx belay-deploy worker`; belay: `belay` is its name',
  );
});
