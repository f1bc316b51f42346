/** The SDK's own cached download of the Temporal CLI. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'temporal-cli-';

/** @returns the program's path; rejects where the download host can't be reached */
export async function downloadBySdk(folder: string): Promise<string> {
  const cached = await inFolder(folder);
  if (cached !== null) return cached;
  // Loaded only here: it is needed once in a machine's life.
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: folder } },
  }).catch(() => {
    throw new Error('the download host cannot be reached');
  });
  await environment.teardown();
  const path = await inFolder(folder);
  if (path === null) throw new Error(`the SDK left no ${PREFIX}* in ${folder}`);
  return path;
}

async function inFolder(folder: string): Promise<string | null> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((it) => it.startsWith(PREFIX) && !it.endsWith('.downloading'));
  return name === undefined ? null : join(folder, name);
}
