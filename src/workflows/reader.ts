/** Reads of a status from a workflow: local activities, for they cost fewest events, while the service is quick. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { ReadFailure, ReadResult } from '../contract.ts';

/** A read that hangs holds its workflow's task, so after this many in a row the reads leave it. */
const MAX_SLOW_IN_A_ROW = 2;

// One attempt, always: the default policy would retry for minutes inside one workflow task.
const quick = proxyLocalActivities<Activities>({ startToCloseTimeout: '4 seconds', retry: { maximumAttempts: 1 } });
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
    if (slowInARow >= MAX_SLOW_IN_A_ROW) return patientRead(summary).catch(lostRead);
    const read = await quickRead(summary).catch(lostRead);
    // A worker for another service answers at once and wrongly: another worker may take an activity.
    if (!read.ok && read.kind === 'other_service') return patientRead(summary).catch(lostRead);
    slowInARow = !read.ok && read.kind === 'timeout' ? slowInARow + 1 : 0;
    return read;
  };
}

function lostRead(): ReadFailure {
  const message = 'the worker did not finish the read';
  return { ok: false, kind: 'timeout', httpStatus: null, retryAfterMs: null, message };
}
