import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { RUN_TYPES } from '../../src/contract/names.ts';
import type { BackupResult, DeploymentResult, RunResult } from '../../src/contract/run.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';
import { emptyResult } from '../../src/contract/results.ts';
import { withInput } from '../../src/client/runs/run-result.ts';
import { jsonSchemaOf, runInput, runResult } from '../../tools/schemas.ts';
import { at, bad, good, isCountedAlike, mixed, numbersOf, type Node } from '../support/run-inputs.ts';

// date-time is only an annotation here: the pattern next to it is checked.
const ajv = new Ajv2020({ strictTypes: true, formats: { 'date-time': true } });
const inputSchema = jsonSchemaOf(runInput);
const root = inputSchema as Node;
const allowsInput = ajv.compile(inputSchema);
const allowsResult = ajv.compile(jsonSchemaOf(runResult));

/** Whether a run of any type accepts it. The schema has no rules that depend on the type. */
const someRunTakes = (input: unknown) => RUN_TYPES.some((type) => validateRunInput(type, input) === null);

/** The value after its way through Temporal. */
const sent = (input: unknown) => JSON.parse(JSON.stringify(input)) as unknown;

function judge(input: unknown): { schema: boolean; run: boolean } {
  const arrived = sent(input);
  return { schema: allowsInput(arrived), run: someRunTakes(arrived) };
}

const RUNS = { numRuns: 400 };

test('property: some run accepts every input that the schema allows', () => {
  fc.assert(
    fc.property(good(root), (input) => {
      assert.deepEqual(judge(input), { schema: true, run: true });
    }),
    RUNS,
  );
});

test('property: the schema and every run reject an input with one error', () => {
  fc.assert(
    fc.property(bad(root), (input) => {
      assert.deepEqual(judge(input), { schema: false, run: false });
    }),
    RUNS,
  );
});

test('property: the schema and the runs agree on every input', () => {
  fc.assert(
    fc.property(mixed(root), (input) => {
      const { schema, run } = judge(input);
      assert.equal(schema, run);
    }),
    { numRuns: 800 },
  );
});

for (const [path, min, max] of numbersOf(root)) {
  test(`the schema and the runs accept ${path.join('.')} from ${min} to ${max}`, () => {
    const taken = [min - 1, min, max, max + 1].map((value) => judge({ siteIds: ['a'], ...at(path, value) }));
    const [no, yes] = [false, true].map((all) => ({ schema: all, run: all }));
    assert.deepEqual(taken, [no, yes, yes, no]);
  });
}

test('the schema and the runs reject an input without a server and a site', () => {
  assert.deepEqual(judge({ siteIds: [] }), { schema: false, run: false });
  assert.deepEqual(judge({ serverId: 's1', siteIds: [] }), { schema: true, run: true });
});

test('a character beyond U+FFFF counts once for the schema and twice for a run', () => {
  const id = '😀'.repeat(101);
  assert.equal(isCountedAlike(id), false);
  assert.deepEqual(judge({ siteIds: [id] }), { schema: true, run: false });
  assert.deepEqual(judge({ siteIds: ['😀'.repeat(100)] }), { schema: true, run: true });
});

const [startedAt, endedAt] = [new Date(0).toISOString(), new Date().toISOString()];
const trigger = { attempts: 2, ambiguous: true, reconciledBy: 'resent' } as const;
const ended = { polls: 4, trigger, startedAt, acceptedAt: startedAt, inProgressAt: null, endedAt };
const ids = { workflowId: 'w', runId: 'r', service: 'https://service.example', phase: 'done' } as const;
const backup: BackupResult = {
  ...{ serverId: 's1', backupId: 'b-1', source: 'created', outcome: 'completed', lastStatus: 'completed' },
  ...ended,
};
const deployment: DeploymentResult = {
  ...{
    target: { kind: 'site', id: 'a1' },
    siteId: 'a1',
    outcome: 'completed',
    evidence: 'transition',
    verdictAt: endedAt,
    lastStatus: 'completed',
    check: null,
    error: null,
  },
  ...ended,
};
const error = { type: 'DeploymentFailed', message: 'the service said failed' } as const;
const failed: DeploymentResult = { ...deployment, outcome: 'failed', lastStatus: 'failed', error };
const whole: RunResult = emptyResult({ ...ids, startedAt, endedAt, backup, deployments: [deployment] });
const input = { serverId: 's1', siteIds: ['a1'], meta: { job: '1' } };
const RESULTS: Record<string, RunResult> = {
  'without any data': emptyResult(),
  'of a run known only by its input': withInput(emptyResult({}), { input }),
  'of a run without an input': withInput(emptyResult({}), { input: null }),
  'in flight': { ...whole, phase: 'deploy', endedAt: null, deployments: [{ ...deployment, outcome: null }] },
  completed: { ...whole, outcome: 'completed', meta: { job: '1' }, links: { ui: 'http://127.0.0.1/' } },
  failed: { ...whole, outcome: 'failed', deployments: [deployment, failed], error },
};
for (const [what, result] of Object.entries(RESULTS)) {
  test(`the schema of the result allows a result ${what}, also with added fields`, () => {
    assert.ok(allowsResult(sent(result)), ajv.errorsText(allowsResult.errors));
    const more = { ...result, added: 1, deployments: result.deployments.map((one) => ({ ...one, added: 1 })) };
    assert.ok(allowsResult(sent(more)), ajv.errorsText(allowsResult.errors));
  });
}

const WRONG: Record<string, object> = {
  'an unknown outcome': { outcome: 'fine' },
  'a local time': { startedAt: '2026-01-01T00:00:00+01:00' },
  'a fractional number of polls': { backup: { ...backup, polls: 0.5 } },
  'a missing field': { links: {} },
};
for (const [what, change] of Object.entries(WRONG)) {
  test(`the schema of the result rejects a result with ${what}`, () => {
    assert.equal(allowsResult(sent({ ...whole, ...change })), false);
  });
}
