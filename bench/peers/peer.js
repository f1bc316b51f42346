/**
 * What every peer does: it sends one POST for a site, reads the status at an interval until it is final, and stops after
 * so many reads. The names of the sites come on the lines of stdin.
 */
import { createInterface } from 'node:readline';

const { SERVICE_URL, SERVICE_TOKEN, INTERVAL_MS, TRIES } = process.env;
const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };

export const intervalMs = Number(INTERVAL_MS);
export const tries = Number(TRIES);

export async function post(siteId) {
  const answer = await fetch(`${SERVICE_URL}/v1/sites/${siteId}/deploy`, { method: 'POST', headers });
  if (!answer.ok) throw new Error(`POST: ${answer.status}`);
  await answer.text();
}

/** @returns whether the status is final */
export async function isFinal(siteId) {
  const answer = await fetch(`${SERVICE_URL}/v1/sites/${siteId}/deployments/latest`, { headers });
  if (!answer.ok) throw new Error(`GET: ${answer.status}`);
  return /completed|failed/i.test(await answer.text());
}

/** @param begin starts the wait for a site */
export function serve(begin) {
  process.stdout.write('ready\n');
  createInterface({ input: process.stdin }).on('line', (siteId) => {
    begin(siteId).catch((error) => process.stderr.write(`${siteId}: ${error.message}\n`));
  });
}
