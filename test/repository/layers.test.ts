import assert from 'node:assert/strict';
import { relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { ESLint, type Linter } from 'eslint';
import { parser } from 'typescript-eslint';

/*
 * The lint rule that keeps the layers apart, and the table behind it. Only this rule runs, without types: it is quick,
 * and files that do not exist can be checked.
 */
interface Row {
  may: string[];
  packages: string[];
  env?: boolean;
}

const tools = (name: string) => import(new URL(`../../tools/${name}`, import.meta.url).href) as Promise<unknown>;
const { LAYERS } = (await tools('layers.js')) as { LAYERS: Record<string, Row> };
const { layers, layersOnDisk } = (await tools('layer-rule.js')) as {
  layers: Linter.Config;
  layersOnDisk: () => string[];
};

const PROGRAMS = ['cli.ts', 'worker.ts', 'webhooks.ts', 'sandbox.ts', 'board.ts', 'codec-server.ts', 'starter.ts'];
const KINDS = ['value', 'type', 'dynamic'] as const;
const ROWS = Object.keys(LAYERS);

const eslint = new ESLint({
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  overrideConfigFile: true,
  overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parser } }, layers],
});

/** The lines that the rule refuses. */
async function refused(file: string, lines: string[]): Promise<string[]> {
  const [result] = await eslint.lintText(lines.join('\n'), { filePath: file });
  assert.ok(result !== undefined);
  assert.ok(
    result.messages.every(({ ruleId }) => ruleId === 'layers/imports'),
    JSON.stringify(result.messages),
  );
  return [...new Set(result.messages.map(({ line }) => lines[line - 1] ?? ''))];
}

const importing = (module: string, kind: (typeof KINDS)[number]) =>
  ({
    value: `import { a } from '${module}';`,
    type: `import type { A } from '${module}';`,
    dynamic: `void import('${module}');`,
  })[kind];

/** Parts of `request` that the workflow bundle may not contain. */
const OUTSIDE_WORKFLOWS = ['request/calendar', 'request/input'];

describe('the table of layers', () => {
  test('has a row for every folder of src and no other rows', () => {
    assert.deepEqual([...ROWS].sort(), layersOnDisk());
  });

  test('lets a row import only from rows above it, so that imports run in one direction', () => {
    for (const [index, name] of ROWS.entries()) {
      const below = (LAYERS[name]?.may ?? []).map((it) => it.split(':')[0] ?? '');
      const above = new Set([...ROWS.slice(0, index), ...(name.startsWith('cli') ? PROGRAMS : [])]);
      assert.deepEqual(
        below.filter((it) => !above.has(it)),
        [],
        name,
      );
    }
  });

  test('allows no impure package in workflow code, and each Temporal SDK package only in its layers', () => {
    const holders = (name: string) => ROWS.filter((it) => LAYERS[it]?.packages.includes(name));
    const isIn =
      (...folders: string[]) =>
      (it: string) =>
        folders.some((folder) => it.split('/')[0] === folder);
    for (const impure of ['node', 'zod', 'axios', 'temporal-polyfill']) {
      assert.deepEqual(
        holders(impure).filter((it) => !OUTSIDE_WORKFLOWS.includes(it) && isIn('contract', 'request', 'workflows')(it)),
        [],
        impure,
      );
    }
    assert.ok(holders('@temporalio/client').every(isIn('client')));
    assert.ok(holders('@temporalio/worker').every(isIn('worker', 'dev')));
    assert.deepEqual(LAYERS['rules']?.packages, []);
    const heavy = (it: string) => LAYERS[it]?.may.some((other) => OUTSIDE_WORKFLOWS.includes(other));
    assert.deepEqual(ROWS.filter(isIn('workflows', 'rules', 'contract')).filter(heavy), []);
    assert.deepEqual(
      ROWS.filter((it) => LAYERS[it]?.env === true),
      ['config/environment'],
    );
  });
});

describe('the linter refuses exactly what the table forbids', () => {
  for (const from of ROWS) {
    test(`in src/${from}`, async () => {
      const { may = [], packages = [] } = LAYERS[from] ?? {};
      const isIn = (list: string[], name: string, kind: string) =>
        list.includes(name) || list.includes(`${name}:${kind}`);
      const others = [...ROWS.filter((it) => it !== from).map((it) => `${it}/some-file.ts`), ...PROGRAMS];
      const names = [
        'node:fs',
        ...new Set(ROWS.flatMap((it) => LAYERS[it]?.packages ?? []).map((it) => it.split(':')[0]!)),
      ];
      const samples = KINDS.flatMap((kind) => [
        ...others.map((path) => ({
          line: importing(relative(`/src/${from}`, `/src/${path}`).replace(/^(?!\.)/, './'), kind),
          isAllowed: isIn(may, path.replace('/some-file.ts', ''), kind),
        })),
        ...names
          .filter((name) => name !== 'node')
          .map((name) => ({
            line: importing(name, kind),
            isAllowed: isIn(packages, name === 'node:fs' ? 'node' : name, kind),
          })),
      ]);
      const forbidden = samples.filter(({ isAllowed }) => !isAllowed).map(({ line }) => line);
      const lines = samples.map(({ line }) => line);
      assert.deepEqual((await refused(`src/${from}/sample.ts`, lines)).sort(), forbidden.sort());
    });
  }
});

/** Each would be an import in the wrong direction. */
const FORBIDDEN: [file: string, code: string][] = [
  ['src/workflows/polling/poll-until.ts', "import 'node:fs';"],
  ['src/workflows/polling/poll-until.ts', "import { z } from 'zod';"],
  ['src/workflows/polling/poll-until.ts', "import { createActivities } from '../../activities/index.ts';"],
  ['src/workflows/polling/poll-until.ts', "import { serviceConfig } from '../../config/environment/environment.ts';"],
  ['src/workflows/polling/poll-until.ts', "import { runOperation } from '../operation/run-operation.ts';"],
  ['src/workflows/conclusion.ts', "import { pollUntil } from '../polling/poll-until.ts';"],
  ['src/features/schedules/workflow.ts', "import { slotOf } from '../../request/calendar/local-time.ts';"],
  ['src/rules/poll-schedule.ts', "import { condition } from '@temporalio/workflow';"],
  ['src/contract/run.ts', "import { z } from 'zod';"],
  ['src/contract/run.ts', "import { plainText } from './wording/safe-text.ts';"],
  ['src/hosting-api/client.ts', "import { plainText } from '../contract/wording/safe-text.ts';"],
  ['src/activities/read-status.ts', "import { pollUntil } from '../../workflows/polling/poll-until.ts';"],
  ['src/sandbox/state.ts', "import { createHostingApiClient } from '../../hosting-api/index.ts';"],
  ['src/config/find-temporal.ts', "import { openSession } from '../../client/connection/session.ts';"],
  ['src/client/runs/run-handle.ts', "import { startWorker } from '../../worker/start.ts';"],
  ['src/webhooks/handle-delivery.ts', "import { Client } from '@temporalio/client';"],
  ['src/webhooks/handle-delivery.ts', "import { startWorker } from '../worker/start.ts';"],
  ['src/worker/start.ts', "import { main } from '../webhooks.ts';"],
  ['src/worker/start.ts', "import { main } from '../sandbox.ts';"],
  ['src/worker/start.ts', "export { main } from '../sandbox.ts';"],
  ['src/worker/start.ts', "export * from '../cli/program.ts';"],
  ['src/worker/start.ts', "void import('../cli/program.ts');"],
  ['src/worker/start.ts', "export type Program = import('../cli/program.ts').Program;"],
  ['src/worker/start.ts', 'const name = "../cli/program.ts"; void import(name);'],
  ['src/cli/actions.ts', "import { Client } from '@temporalio/client';"],
  ['src/cli/commands.ts', "import { startAndWait } from '../actions/run.ts';"],
  ['src/cli/commands.ts', "import { readConfiguration } from '../../config/load.ts';"],
  ['src/cli/actions.ts', "import { connect } from '../../starter.ts';"],
  ['src/cli/actions.ts', "import { main } from '../../worker.ts';"],
  ['src/worker.ts', "import { main } from './webhooks.ts';"],
  ['src/hosting-api/client.ts', 'export const home = process.env.HOME;'],
  ['src/cli/program.ts', 'export const home = process.env.HOME;'],
  ['src/new-folder/file.ts', 'export const home = 1;'],
  ['src/dev/stack.ts', "import { newest } from '../new-folder/file.ts';"],
];

for (const [file, code] of FORBIDDEN) {
  test(`in ${file} the linter refuses: ${code}`, async () => {
    assert.deepEqual(await refused(file, [code]), [code]);
  });
}

const ALLOWED: [file: string, code: string][] = [
  ['src/workflows/activity-proxies.ts', "import type { Activities } from '../../activities/index.ts';"],
  ['src/workflows/run/execute-run.ts', "import { RUN_TYPES } from '../../contract/names.ts';"],
  ['src/config/environment/environment.ts', 'export const home = process.env.HOME;'],
  ['src/cli/open-belay.ts', "void import('../../starter.ts');"],
  ['src/cli/program-commands.ts', "void import('../../worker.ts');"],
  ['src/worker.ts', "import { startWorker } from './worker/start.ts';"],
  ['src/starter.ts', "export type { Outcome } from './contract/names.ts';"],
];

for (const [file, code] of ALLOWED) {
  test(`in ${file} the linter accepts: ${code}`, async () => {
    assert.deepEqual(await refused(file, [code]), []);
  });
}
