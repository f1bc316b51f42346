/** The loop of Temporal's samples: an activity and a sleep. */
import { proxyActivities, sleep } from '@temporalio/workflow';

const { post, isFinal } = proxyActivities({ startToCloseTimeout: '10s' });

export async function plainLoop(siteId, intervalMs, tries) {
  await post(siteId);
  for (let made = 0; made < tries; made += 1) {
    await sleep(intervalMs);
    if (await isFinal(siteId)) return 'final';
  }
  return 'timed out';
}
