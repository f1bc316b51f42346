import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { ESLint } from 'eslint';

/*
 * The lint rules that keep the layers apart: each line would be an import in the wrong direction. The rules look at
 * the file's name alone, so an existing file lends its own.
 */
const FORBIDDEN: [file: string, code: string][] = [
  ['src/workflows/polling/poll-until.ts', "import 'node:fs';"],
  ['src/workflows/polling/poll-until.ts', "import { z } from 'zod'; z;"],
  ['src/workflows/polling/poll-until.ts', "import { createActivities } from '../activities/index.ts'; createActivities;"],
  ['src/workflows/polling/poll-until.ts', "import { serviceConfig } from '../config.ts'; serviceConfig;"],
  ['src/workflows/rules/poll-schedule.ts', "import { condition } from '@temporalio/workflow'; condition;"],
  ['src/contract/run.ts', "import { z } from 'zod'; z;"],
  ['src/hosting-api/client.ts', "import { plainText } from '../text.ts'; plainText;"],
  ['src/activities/http/read-status.ts', "import { wait } from '../workflows/wait.ts'; wait;"],
  ['src/sandbox/hosting/state.ts', "import { createServiceClient } from '../service/index.ts'; createServiceClient;"],
  ['src/client/runs/run-handle.ts', "import { startWorker } from '../worker/create.ts'; startWorker;"],
  ['src/webhooks/handle-delivery.ts', "import { Client } from '@temporalio/client'; Client;"],
  ['src/webhooks/handle-delivery.ts', "import { startWorker } from '../worker/create.ts'; startWorker;"],
  ['src/worker/start.ts', "import { main } from '../webhooks.ts'; main;"],
  ['src/cli/commands/run.ts', "import { Client } from '@temporalio/client'; Client;"],
  ['src/cli/commands/run.ts', "import { connect } from '../starter.ts'; connect;"],
  ['src/cli/commands/run.ts', "import { main } from '../worker.ts'; main;"],
  ['src/worker/start.ts', "import { main } from '../sandbox.ts'; main;"],
  ['src/hosting-api/client.ts', 'export const home = process.env.HOME;'],
];

const eslint = new ESLint({ cwd: fileURLToPath(new URL('../..', import.meta.url)) });

for (const [file, code] of FORBIDDEN) {
  test(`in ${file} the linter refuses: ${code}`, async () => {
    const [result] = await eslint.lintText(`${code}\n`, { filePath: file });
    const rules = result?.messages.map(({ ruleId }) => ruleId) ?? [];
    assert.ok(
      rules.some((rule) => /no-restricted-(imports|properties)$/.test(rule ?? '')),
      rules.join(),
    );
  });
}

test('workflows may import activities as types', async () => {
  const code = "import type { Activities } from '../activities/index.ts';\nexport type A = Activities;\n";
  const [result] = await eslint.lintText(code, { filePath: 'src/workflows/polling/poll-until.ts' });
  assert.deepEqual(result?.messages, []);
});
