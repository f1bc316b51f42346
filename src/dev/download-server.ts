/** Downloads the Temporal CLI with the SDK, which caches it. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'temporal-cli-';

/** @returns the program's path; rejects if the download host is unreachable */
export async function downloadBySdk(folder: string): Promise<string> {
  const cached = await inFolder(folder);
  if (cached !== null) return cached;
  // Imported only when needed: once per machine.
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir: folder } },
  }).catch(() => {
    throw new Error('the download host is unreachable');
  });
  await environment.teardown();
  const path = await inFolder(folder);
  if (path === null) throw new Error(`the SDK downloaded nothing named ${PREFIX}* to ${folder}`);
  return path;
}

async function inFolder(folder: string): Promise<string | null> {
  const names = await readdir(folder).catch(() => []);
  const name = names.find((it) => it.startsWith(PREFIX) && !/\.(downloading|sha256\S*)$/.test(it));
  return name === undefined ? null : join(folder, name);
}
