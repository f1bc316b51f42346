/** A sender floods the receiver. It turns most of the deliveries away, and runs stay on time. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { startWebhooks } from '../support/processes.ts';
import { SECRET, signed } from '../support/receiver.ts';
import { tempFolder } from '../support/temporal.ts';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';

const DELIVERIES = 5_000;
const ALLOWED = 200;

export async function floodedReceiver(): Promise<string> {
  const stage = await openStage();
  const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
  const panel = `{ verify: standard-webhooks, secrets: [{ env: SECRET }], maxPerMinute: ${ALLOWED} }`;
  await writeFile(BELAY_CONFIG, `events: { sources: { panel: ${panel} } }\n`);
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = stage.env;
  const env = { TEMPORAL_ADDRESS: TEMPORAL_ADDRESS!, TEMPORAL_NAMESPACE: TEMPORAL_NAMESPACE!, BELAY_CONFIG, SECRET };
  const { url } = await startWebhooks(env);
  const running = await stage.deploy(10);
  await inFlight(stage, running);
  const body = (index: number) => JSON.stringify({ type: 'alert.fired', data: { server_id: `s${index % 50}` } });
  const send = async (index: number) => {
    const headers = { 'content-type': 'application/json', ...signed(body(index)) };
    return (await fetch(`${url}/webhooks/panel`, { method: 'POST', headers, body: body(index) })).status;
  };
  const statuses = await pMap(Array.from({ length: DELIVERIES }).keys(), send, { concurrency: 20 });
  const count = (status: number) => statuses.filter((it) => it === status).length;
  assert.ok(count(429) > DELIVERIES / 2, `${count(429)} of ${DELIVERIES} were turned away`);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const text = await (await fetch(`${url}/metrics`)).text();
  assert.match(text, /^belay_webhooks_rejected_total\{source="panel",reason="too_many"\} \d+/m);
  finish(stage, running);
  await completedOnce(stage, running);
  return `${count(429)} of ${DELIVERIES} deliveries were turned away`;
}
