/** Two documented ways to poll with Temporal. */
import { proxyActivities, sleep } from '@temporalio/workflow';

const startToCloseTimeout = '10s';
const { post, isFinal } = proxyActivities({ startToCloseTimeout });

/** The loop of Temporal's samples: an activity and a sleep. */
export async function plainLoop(siteId, intervalMs, tries) {
  await post(siteId);
  for (let made = 0; made < tries; made += 1) {
    await sleep(intervalMs);
    if (await isFinal(siteId)) return 'final';
  }
  return 'timed out';
}

/** Infrequent polling: one activity, which the server retries at the interval. */
export async function retriedActivity(siteId, intervalMs, tries) {
  await post(siteId);
  await sleep(intervalMs);
  const retry = { initialInterval: intervalMs, backoffCoefficient: 1, maximumAttempts: tries };
  await proxyActivities({ startToCloseTimeout, retry }).untilFinal(siteId);
  return 'final';
}
