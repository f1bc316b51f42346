/** The token is revoked while runs are in flight, and a new one is written into the same file. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';

/** Less than the two minutes for which a run waits for a valid token. */
const REVOKED_FOR_MS = 40_000;

export async function revokedToken(): Promise<string> {
  const stage = await openStage();
  const running = await stage.deploy(5);
  await inFlight(stage, running);
  const accepted = () => stage.metric('belay_token_accepted');
  assert.equal(await accepted(), 1);
  const token = randomBytes(16).toString('hex');
  stage.sandbox.setToken(token);
  await eventually('the alarm', async () => (await accepted()) === 0);
  await sleep(REVOKED_FOR_MS);
  await writeFile(stage.tokenFile, token);
  await eventually('the end of the alarm', async () => (await accepted()) === 1);
  finish(stage, running);
  await completedOnce(stage, running);
  return `${running.length} runs waited for a new token`;
}
