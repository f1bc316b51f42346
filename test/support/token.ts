/** Searches for the token, which must be in no history, log, file or error, however the requests ended. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { eventually } from './eventually.ts';

const { History } = proto.temporal.api.history.v1;

/**
 * Every history of the server with readable payloads. Temporal updates its list a moment later. @param known a text that
 * one of them has, which is to be in the list
 */
export const allHistories = (client: Client, known = ''): Promise<Record<string, string>> =>
  eventually(`a history with "${known}"`, async () => {
    const texts: Record<string, string> = {};
    for await (const { workflowId, runId } of client.workflow.list()) {
      texts[`history of ${workflowId}`] = await historyText(client.workflow.getHandle(workflowId, runId));
    }
    return Object.values(texts).some((text) => text.includes(known)) && texts;
  });

/** A history with readable payloads. */
async function historyText(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string> {
  // As JSON the payloads would be base64, which hides the token.
  return Buffer.from(History.encode(await handle.fetchHistory()).finish()).toString('latin1');
}

export async function allFiles(folder: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of await readdir(folder)) texts[name] = await readFile(join(folder, name), 'latin1');
  return texts;
}

/** @param known a text that must be found, to prove that the search looks inside */
export function assertNowhere(token: string, texts: Record<string, string>, known: string): void {
  const holders = Object.entries(texts).filter(([, text]) => text.includes(token));
  assert.deepEqual(
    holders.map(([name, text]) => `${name}: ${text.slice(text.indexOf(token) - 60).slice(0, 100)}`),
    [],
  );
  assert.ok(Object.values(texts).join('').includes(known), `the search looks at nothing: no ${known} anywhere`);
}
