/** The search for the token: it must be in no history, log, file or error, however the requests ended. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { History } = proto.temporal.api.history.v1;

/** Every history of the server, its payloads readable. */
export async function allHistories(client: Client): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for await (const { workflowId, runId } of client.workflow.list()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // As JSON the payloads would be base64, in which nothing is found.
    texts[`history of ${workflowId}`] = Buffer.from(History.encode(history).finish()).toString('latin1');
  }
  return texts;
}

export async function allFiles(folder: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await readdir(folder)) texts[name] = await readFile(join(folder, name), 'latin1');
  return texts;
}

/** @param known what must be found, so that the search is known to look inside */
export function assertNowhere(token: string, texts: Record<string, string>, known: string): void {
  const holders = Object.entries(texts).filter(([, text]) => text.includes(token));
  assert.deepEqual(
    holders.map(([name, text]) => `${name}: ${text.slice(text.indexOf(token) - 60).slice(0, 100)}`),
    [],
  );
  assert.ok(Object.values(texts).join('').includes(known), `the search looks at nothing: no ${known} anywhere`);
}
