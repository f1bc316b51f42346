/** Measures the throughput and memory of the webhook receiver in its own process, without a worker. Option: `--deliveries <n>`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWebhooks } from '../test/support/processes.ts';
import { SECRET, signed } from '../test/support/receiver.ts';
import { startTemporal, tempFolder } from '../test/support/temporal.ts';
import { number } from './report/amounts.ts';
import { positive } from './report/options.ts';
import { runPart } from './report/run-part.ts';

const AT_ONCE = 32;
const BODY_BYTES = 1_000;
const LOOK_EACH = 500;

await runPart('receiver', async ({ isQuick, deadlineMs, given }) => {
  const most = positive(given, 'deliveries', isQuick ? 2_000 : 10_000);
  const { address } = await startTemporal();
  const url = await startReceiverProcess(address);
  const beforeMb = await megabytes(url);
  const startedMs = Date.now();
  let [deliveries, peakMb] = [0, beforeMb];
  const senders = Array.from({ length: AT_ONCE }, async () => {
    while (deliveries < most && Date.now() < deadlineMs) {
      deliveries += 1;
      await deliver(url, deliveries);
      if (deliveries % LOOK_EACH === 0) peakMb = Math.max(peakMb, await megabytes(url));
    }
  });
  await Promise.all(senders);
  const perSecond = (1_000 * deliveries) / (Date.now() - startedMs);
  const figures = { perSecond, beforeMb, peakMb, afterMb: await megabytes(url) };
  return {
    plan: { deliveries, atOnce: AT_ONCE, bodyBytes: BODY_BYTES },
    figures,
    rounds: [figures],
    tables: [
      {
        title: `Signed deliveries of ${number(BODY_BYTES)} bytes, ${AT_ONCE} at once`,
        head: ['deliveries', 'a second', 'memory before', 'most', 'after'],
        rows: [
          [...[deliveries, perSecond].map(number), ...[beforeMb, peakMb, figures.afterMb].map((mb) => `${mb} MB`)],
        ],
      },
    ],
  };
});

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
