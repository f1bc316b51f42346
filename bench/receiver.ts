/** Measures the throughput and memory of the webhook receiver in its own process, without a worker. Part of `npm run bench`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endAll } from '../test/support/at-end.ts';
import { startWebhooks } from '../test/support/processes.ts';
import { SECRET, signed } from '../test/support/receiver.ts';
import { startTemporal, tempFolder } from '../test/support/temporal.ts';

const DELIVERIES = 10_000;
const AT_ONCE = 32;
const BODY_BYTES = 1_000;

async function startReceiverProcess(address: string): Promise<string> {
  const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
  const panel = { verify: 'standard-webhooks', secrets: [{ env: 'PANEL_SECRET' }], maxPerMinute: 60_000 };
  writeFileSync(BELAY_CONFIG, JSON.stringify({ events: { sources: { panel } } }));
  const env = { BELAY_CONFIG, TEMPORAL_ADDRESS: address, PANEL_SECRET: SECRET };
  return (await startWebhooks(env)).url;
}

async function megabytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / 1e6);
}

async function deliver(url: string, index: number): Promise<void> {
  const body = JSON.stringify({ type: 'alert.fired', server_id: `s-${index}`, text: 'x'.repeat(BODY_BYTES) });
  const headers = { 'content-type': 'application/json', ...signed(body) };
  const { status } = await fetch(`${url}/webhooks/panel`, { method: 'POST', headers, body });
  if (status !== 202) throw new Error(`delivery ${index} was answered with ${status}`);
}

const { address } = await startTemporal();
const url = await startReceiverProcess(address);
const before = await megabytes(url);
const startedMs = Date.now();
let next = 0;
let peak = before;
const senders = Array.from({ length: AT_ONCE }, async () => {
  while (next < DELIVERIES) {
    next += 1;
    await deliver(url, next);
    if (next % 500 === 0) peak = Math.max(peak, await megabytes(url));
  }
});
await Promise.all(senders);
const seconds = (Date.now() - startedMs) / 1_000;
process.stdout.write(
  `${DELIVERIES} deliveries, ${AT_ONCE} at once: ${Math.round(DELIVERIES / seconds)} per second; ` +
    `memory ${before} MB before, ${peak} MB peak, ${await megabytes(url)} MB after\n`,
);
await endAll();
