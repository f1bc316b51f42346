/** The two reads. They give a failed read back as a value and never throw: a wait decides what a failure means. */
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { ReadResult } from '../../contract/run.ts';
import type { OperationStatus, ReadOptions, ServiceClient } from '../../hosting-api/index.ts';
import { plainText } from '../../contract/wording/safe-text.ts';
import { otherService, toReadFailure } from './failures.ts';
import type { StatusWords } from './statuses.ts';

/** Time for the whole answer of a read that holds a workflow's task. */
const QUICK_READ_TIMEOUT_MS = 800;
/** Time for that of one which runs as an activity of its own: a service that is slow to answer gets it. */
const PATIENT_READ_TIMEOUT_MS = 15_000;

export interface ReadDeps {
  service: ServiceClient;
  statuses: StatusWords;
}

export function createReads({ service, statuses }: ReadDeps) {
  async function read(
    recorded: string,
    kind: keyof StatusWords,
    ask: (options: ReadOptions) => Promise<OperationStatus>,
  ): Promise<ReadResult> {
    if (recorded !== service.origin) {
      const message = otherService(recorded, service.origin);
      return { ok: false, kind: 'other_service', httpStatus: null, retryAfterMs: null, message };
    }
    try {
      const timeoutMs = activityInfo().isLocal ? QUICK_READ_TIMEOUT_MS : PATIENT_READ_TIMEOUT_MS;
      const { status, marks } = await ask({ signal: cancellationSignal(), timeoutMs });
      return { ok: true, status: plainText(status), state: statuses[kind](status), marks };
    } catch (error) {
      return toReadFailure(error);
    }
  }

  return {
    readLatestDeployment: (input: { service: string; siteId: string }): Promise<ReadResult> =>
      read(input.service, 'deployment', (options) => service.readLatestDeployment(input.siteId, options)),

    readBackup: (input: { service: string; backupId: string }): Promise<ReadResult> =>
      read(input.service, 'backup', (options) => service.readBackup(input.backupId, options)),
  };
}
