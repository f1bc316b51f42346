import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { ESLint, type Linter } from 'eslint';
import { parser } from 'typescript-eslint';

/* Only these rules run, without types: it is quick, and files that do not exist can be checked. */
const { environment, layers } = (await import(new URL('../../tools/boundaries.js', import.meta.url).href)) as Record<
  'environment' | 'layers',
  Linter.Config
>;

const eslint = new ESLint({
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  overrideConfigFile: true,
  overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parser } }, layers, environment],
});

async function isRefused(file: string, code: string): Promise<boolean> {
  const [result] = await eslint.lintText(code, { filePath: `src/${file}` });
  assert.ok(result !== undefined);
  assert.deepEqual(
    result.messages.filter(
      ({ ruleId }) => ruleId?.startsWith('boundaries/') !== true && ruleId !== 'no-restricted-properties',
    ),
    [],
  );
  return result.messages.length > 0;
}

/** The workflow bundle holds nothing that has a side effect or needs a machine; imports run in one direction. */
const FORBIDDEN: [file: string, code: string][] = [
  ['workflows/polling/poll-until.ts', "import 'node:fs';"],
  ['workflows/polling/poll-until.ts', "import { z } from 'zod';"],
  ['workflows/polling/poll-until.ts', "import { createActivities } from '../../activities/index.ts';"],
  ['workflows/polling/poll-until.ts', "import { serviceConfig } from '../../config/environment/environment.ts';"],
  ['workflows/polling/poll-until.ts', "import { slotOf } from '../../request/calendar/local-time.ts';"],
  ['features/freezes/rules.ts', "import 'node:fs';"],
  ['features/freezes/rules.ts', "import { z } from 'zod';"],
  ['features/freezes/rules.ts', "import { createFreezeJudge } from './worker.ts';"],
  ['features/freezes/shapes.ts', "import { condition } from '@temporalio/workflow';"],
  ['features/freezes/shapes.ts', "import { heldPart } from './rules.ts';"],
  ['features/freezes/worker.ts', "import { createFreezes } from './client.ts';"],
  ['features/freezes/rules.ts', "import { verdictOf } from '../gates/rules.ts';"],
  ['features/freezes/config.ts', "import { createNotifier } from '../notifications/worker.ts';"],
  ['rules/poll-schedule.ts', "import { condition } from '@temporalio/workflow';"],
  ['rules/poll-schedule.ts', "import { nextStep } from '../features/rollouts/rules.ts';"],
  ['contract/run.ts', "import { z } from 'zod';"],
  ['contract/run.ts', "import { problemOfId } from '../request/problems.ts';"],
  ['hosting-api/client.ts', "import { plainText } from '../contract/safe-text.ts';"],
  ['activities/read-status.ts', "import { pollUntil } from '../workflows/polling/poll-until.ts';"],
  ['sandbox/state.ts', "import { createHostingApiClient } from '../hosting-api/index.ts';"],
  ['config/find-temporal.ts', "import { openSession } from '../client/session.ts';"],
  ['client/runs/run-handle.ts', "import { startWorker } from '../../worker/start.ts';"],
  ['webhooks/handle-delivery.ts', "import { Client } from '@temporalio/client';"],
  ['webhooks/handle-delivery.ts', "import { startWorker } from '../worker/start.ts';"],
  ['worker/start.ts', "import { runWebhooks } from '../webhooks.ts';"],
  ['worker/start.ts', "export * from '../cli/program.ts';"],
  ['worker/start.ts', "void import('../cli/program.ts');"],
  ['cli/actions.ts', "import { Client } from '@temporalio/client';"],
  ['cli/actions.ts', "import { connect } from '../starter.ts';"],
  ['cli/actions.ts', "import { runWorker } from '../worker.ts';"],
  ['worker.ts', "import { runWebhooks } from './webhooks.ts';"],
  ['hosting-api/client.ts', 'export const home = process.env.HOME;'],
  ['cli/program.ts', 'export const home = process.env.HOME;'],
  ['new-folder/file.ts', 'export const home = 1;'],
  ['dev/stack.ts', "import { newest } from '../new-folder/file.ts';"],
];

for (const [file, code] of FORBIDDEN) {
  test(`lint refuses in src/${file}: ${code}`, async () => {
    assert.ok(await isRefused(file, code));
  });
}

const ALLOWED: [file: string, code: string][] = [
  ['workflows/activity-proxies.ts', "import type { Activities } from '../activities/index.ts';"],
  ['workflows/run/run-workflows.ts', "import { RUN_TYPES } from '../../contract/names.ts';"],
  ['features/freezes/rules.ts', "import type { RolloutInput } from '../rollouts/shapes.ts';"],
  ['features/freezes/hold.ts', "import { condition } from '@temporalio/workflow';"],
  ['features/freezes/config.ts', "import { z } from 'zod';"],
  ['config/environment/environment.ts', 'export const home = process.env.HOME;'],
  ['cli/open-belay.ts', "void import('../starter.ts');"],
  ['cli/program-commands.ts', "void import('../worker.ts');"],
  ['worker.ts', "import { startWorker } from './worker/start.ts';"],
  ['starter.ts', "export type { Outcome } from './contract/names.ts';"],
];

for (const [file, code] of ALLOWED) {
  test(`lint accepts in src/${file}: ${code}`, async () => {
    assert.ok(!(await isRefused(file, code)));
  });
}
