/** Reads of a status from a workflow: local activities, for they cost fewest events, where the service is quick. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { ReadFailure, ReadResult } from '../../contract/run.ts';

/** After so many in a row that were not answered at once, nobody asks for a quick answer any more. */
const MAX_SLOW_IN_A_ROW = 2;

// It holds its workflow's task, which hints and queries wait for. One attempt, always: the default policy would retry
// for minutes inside one task.
const quick = proxyLocalActivities<Activities>({ startToCloseTimeout: '1 second', retry: { maximumAttempts: 1 } });
const patient = proxyActivities<Activities>({
  startToCloseTimeout: '20 seconds',
  scheduleToStartTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
});

/** @param summary what the UI shows of this read */
export type Reader = (summary: string) => Promise<ReadResult>;

export function deploymentReader(input: { service: string; siteId: string }): Reader {
  return createReader(
    (summary) => quick.readLatestDeployment.executeWithOptions({ summary }, [input]),
    (summary) => patient.readLatestDeployment.executeWithOptions({ summary }, [input]),
  );
}

export function backupReader(input: { service: string; backupId: string }): Reader {
  return createReader(
    (summary) => quick.readBackup.executeWithOptions({ summary }, [input]),
    (summary) => patient.readBackup.executeWithOptions({ summary }, [input]),
  );
}

function createReader(quickRead: Reader, patientRead: Reader): Reader {
  let slowInARow = 0;
  return async (summary) => {
    if (slowInARow < MAX_SLOW_IN_A_ROW) {
      const read = await quickRead(summary).catch(lostRead);
      const isSlow = !read.ok && read.kind === 'timeout';
      slowInARow = isSlow ? slowInARow + 1 : 0;
      // A worker for another service answers at once and wrongly: another worker may take an activity.
      if (read.ok || !(isSlow || read.kind === 'other_service')) return read;
    }
    return patientRead(summary).catch(lostRead);
  };
}

function lostRead(): ReadFailure {
  const message = 'the worker did not finish the read';
  return { ok: false, kind: 'timeout', httpStatus: null, retryAfterMs: null, message };
}
