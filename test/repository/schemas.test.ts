import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { RUN_TYPES, type BackupResult, type DeploymentResult, type RunResult } from '../../src/contract/run.ts';
import { problemOfInput } from '../../src/request/validate-run-input.ts';
import { emptyResult } from '../../src/contract/results/empty-results.ts';
import { resultOfInput } from '../../src/client/runs/closed-run.ts';
import { DOCUMENTS, jsonSchemaOf, pathOf, runInput, runResult, textOf } from '../../tools/schemas.ts';
import { at, bad, good, isCountedAlike, mixed, numbersOf, type Node } from '../support/run-inputs.ts';

for (const name of Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[]) {
  test(`docs/${name} is what the tool writes`, async () => {
    const written = await readFile(pathOf(name), 'utf8').catch(() => 'missing');
    assert.equal(written, await textOf(name), `docs/${name} is out of date: npm run schemas`);
  });
}

// date-time is an annotation here: the pattern next to it is what is checked.
const ajv = new Ajv2020({ strictTypes: true, formats: { 'date-time': true } });
const inputSchema = jsonSchemaOf(runInput);
const root = inputSchema as Node;
const allowsInput = ajv.compile(inputSchema);
const allowsResult = ajv.compile(jsonSchemaOf(runResult));

/** Whether a run of some type takes it: what depends on the type isn't in the schema. */
const someRunTakes = (input: unknown) => RUN_TYPES.some((type) => problemOfInput(type, input) === null);

/** What arrives of it through Temporal. */
const sent = (input: unknown) => JSON.parse(JSON.stringify(input)) as unknown;

function judge(input: unknown): { schema: boolean; run: boolean } {
  const arrived = sent(input);
  return { schema: allowsInput(arrived), run: someRunTakes(arrived) };
}

const RUNS = { numRuns: 1_000 };

test('property: what the schema of the input allows is what some run takes', () => {
  fc.assert(
    fc.property(good(root), (input) => {
      assert.deepEqual(judge(input), { schema: true, run: true });
    }),
    RUNS,
  );
});

test('property: an input that is wrong in one place is refused by the schema and by every run', () => {
  fc.assert(
    fc.property(bad(root), (input) => {
      assert.deepEqual(judge(input), { schema: false, run: false });
    }),
    RUNS,
  );
});

test('property: the schema and the runs agree on anything', () => {
  fc.assert(
    fc.property(mixed(root), (input) => {
      const { schema, run } = judge(input);
      assert.equal(schema, run);
    }),
    { numRuns: 2_000 },
  );
});

for (const [path, min, max] of numbersOf(root)) {
  test(`${path.join('.')} may be from ${min} to ${max} for the schema and for a run`, () => {
    const taken = [min - 1, min, max, max + 1].map((value) => judge({ siteIds: ['a'], ...at(path, value) }));
    const [no, yes] = [false, true].map((all) => ({ schema: all, run: all }));
    assert.deepEqual(taken, [no, yes, yes, no]);
  });
}

test('neither a server nor a site is nothing to do', () => {
  assert.deepEqual(judge({ siteIds: [] }), { schema: false, run: false });
  assert.deepEqual(judge({ serverId: 's1', siteIds: [] }), { schema: true, run: true });
});

test('characters beyond U+FFFF count once for the schema and twice for a run', () => {
  const id = '😀'.repeat(101);
  assert.equal(isCountedAlike(id), false);
  assert.deepEqual(judge({ siteIds: [id] }), { schema: true, run: false });
  assert.deepEqual(judge({ siteIds: ['😀'.repeat(100)] }), { schema: true, run: true });
});

const [startedAt, endedAt] = [new Date(0).toISOString(), new Date().toISOString()];
const trigger = { attempts: 2, ambiguous: true, reconciledBy: 'resent' } as const;
const ended = { polls: 4, trigger, startedAt, endedAt };
const ids = { workflowId: 'w', runId: 'r', service: 'https://service.example', phase: 'done' } as const;
const backup: BackupResult = {
  ...{ serverId: 's1', backupId: 'b-1', source: 'created', outcome: 'completed', lastStatus: 'completed' },
  ...ended,
};
const deployment: DeploymentResult = {
  ...{ siteId: 'a1', outcome: 'completed', evidence: 'transition', lastStatus: 'completed', error: null },
  ...ended,
};
const error = { type: 'DeploymentFailed', message: 'the service said failed' } as const;
const failed: DeploymentResult = { ...deployment, outcome: 'failed', lastStatus: 'failed', error };
const whole: RunResult = emptyResult({ ...ids, startedAt, endedAt, backup, deployments: [deployment] });
const input = { serverId: 's1', siteIds: ['a1'], meta: { job: '1' } };
const RESULTS: Record<string, RunResult> = {
  'of which nothing is known': emptyResult(),
  'of a run that can only be told from its input': emptyResult(resultOfInput(input)),
  'of a run without an input': emptyResult(resultOfInput(null)),
  'in flight': { ...whole, phase: 'deploy', endedAt: null, deployments: [{ ...deployment, outcome: null }] },
  completed: { ...whole, outcome: 'completed', meta: { job: '1' }, links: { ui: 'http://127.0.0.1/' } },
  failed: { ...whole, outcome: 'failed', deployments: [deployment, failed], error },
};
for (const [what, result] of Object.entries(RESULTS)) {
  test(`the schema of the result allows one ${what}, and fields that are added to it`, () => {
    assert.ok(allowsResult(sent(result)), ajv.errorsText(allowsResult.errors));
    const more = { ...result, added: 1, deployments: result.deployments.map((one) => ({ ...one, added: 1 })) };
    assert.ok(allowsResult(sent(more)), ajv.errorsText(allowsResult.errors));
  });
}

const WRONG: Record<string, object> = {
  'an outcome nobody knows': { outcome: 'fine' },
  'a local time': { startedAt: '2026-01-01T00:00:00+01:00' },
  'half a poll': { backup: { ...backup, polls: 0.5 } },
  'a field left out': { links: {} },
};
for (const [what, change] of Object.entries(WRONG)) {
  test(`the schema of the result refuses one with ${what}`, () => {
    assert.equal(allowsResult(sent({ ...whole, ...change })), false);
  });
}
