/**
 * Reads a status from a workflow. Uses local activities, which cost the fewest events, while the service is quick. A
 * read that may have failed because of its worker is made once more by another worker before it counts.
 */
import { patientRead, quickRead, readElsewhere } from '../common/activity-proxies.ts';
import type { ReadAnswer, ReadFailure, ReadInput, ReadResult } from '../../contract/activities.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { RecordedService } from '../../contract/operation.ts';
import type { PooledWait } from '../../contract/polling/pooled-wait.ts';
import type { Target } from '../../contract/target.ts';
import { withMeaning } from '../../rules/status-words.ts';

/** After this many slow reads in a row, only regular activities are used. */
const MAX_SLOW_IN_A_ROW = 2;
/** After another worker could read, this many reads go to any worker: this one may take a while to recover. */
const READS_ELSEWHERE = 10;

/** A read has two steps, so that several readers can take the first one at once. The summary is shown in the UI. */
export interface Reader {
  /** What it reads. */
  readonly reads: Omit<PooledWait, 'tries' | 'progress'>;
  /**
   * Asks with a local activity.
   * @param dueMs when it is due, if that is its reason
   * @returns null if that gave no answer that counts
   */
  begin(summary: string, dueMs?: number): Promise<ReadAnswer | null>;
  /** Asks with regular activities, if that is needed. */
  finish(summary: string, begun: ReadAnswer | null): Promise<ReadResult>;
}

export async function readStatus(reader: Reader, summary: string, dueMs?: number): Promise<ReadResult> {
  return reader.finish(summary, await reader.begin(summary, dueMs));
}

export function deploymentReader({
  service,
  statuses,
  deploymentId,
  target,
}: RecordedService & { target: Target }): Reader {
  const field = definedFields({ deploymentId });
  const input = { service, target, ...field };
  return createReader(
    { service, subject: { target }, words: statuses.deployment, ...field },
    {
      quickly: (summary, due) => quickRead.readLatestDeployment.executeWithOptions({ summary }, [{ ...input, ...due }]),
      patiently: (summary) => patientRead.readLatestDeployment.executeWithOptions({ summary }, [input]),
      elsewhere: (summary) => readElsewhere.readLatestDeployment.executeWithOptions({ summary }, [input]),
    },
  );
}

export function backupReader({ service, statuses, backupId }: RecordedService & { backupId: string }): Reader {
  const input = { service, backupId };
  return createReader(
    { service, subject: { backupId }, words: statuses.backup },
    {
      quickly: (summary, due) => quickRead.readBackup.executeWithOptions({ summary }, [{ ...input, ...due }]),
      patiently: (summary) => patientRead.readBackup.executeWithOptions({ summary }, [input]),
      elsewhere: (summary) => readElsewhere.readBackup.executeWithOptions({ summary }, [input]),
    },
  );
}

type Ask = (summary: string, due?: Pick<ReadInput, 'dueMs'>) => Promise<ReadAnswer>;

function createReader(reads: Reader['reads'], ask: Record<'quickly' | 'patiently' | 'elsewhere', Ask>): Reader {
  let slowInARow = 0;
  let notHere = 0;
  return {
    reads,
    async begin(summary, dueMs) {
      if (notHere > 0) {
        notHere -= 1;
        return null;
      }
      if (slowInARow >= MAX_SLOW_IN_A_ROW) return null;
      const read = await ask.quickly(summary, definedFields({ dueMs })).catch(lostRead);
      const isSlow = !read.ok && read.kind === 'timeout' && read.ofThisWorker === undefined;
      slowInARow = isSlow ? slowInARow + 1 : 0;
      return isSlow ? null : read;
    },
    async finish(summary, begun) {
      const read = begun ?? (await ask.patiently(summary).catch(lostRead));
      if (read.ok || read.ofThisWorker === undefined) return withMeaning(reads.words, read);
      // If no other worker takes it, the first failure counts.
      const second = await ask.elsewhere(summary).catch(() => read);
      if (second.ok) notHere = READS_ELSEWHERE;
      return withMeaning(reads.words, second);
    },
  };
}

function lostRead(): ReadFailure {
  const message = 'the worker did not finish the read';
  return { ok: false, kind: 'timeout', httpStatus: null, isJson: false, retryAfterMs: null, message };
}
