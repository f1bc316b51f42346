/**
 * Reads a status from a workflow. Uses local activities, which cost the fewest events, while the service is quick. A
 * read that may have failed because of its worker is made once more by another worker before it counts.
 */
import { patientRead, quickRead, readElsewhere } from '../common/activity-proxies.ts';
import type { FinalWords, ReadAnswer, ReadFailure, ReadResult } from '../../contract/activities.ts';
import type { RecordedService } from '../../contract/operation.ts';
import type { Target } from '../../contract/target.ts';
import { stateOfStatus } from '../rules/status-words.ts';

/** After this many slow reads in a row, only regular activities are used. */
const MAX_SLOW_IN_A_ROW = 2;
/** After another worker could read, this many reads go to any worker: this one may take a while to recover. */
const READS_ELSEWHERE = 10;

/** @param summary shown in the UI for this read */
export type Reader = (summary: string) => Promise<ReadResult>;

type Ask = (summary: string) => Promise<ReadAnswer>;

export function deploymentReader({ service, statuses, target }: RecordedService & { target: Target }): Reader {
  const input = { service, target };
  const ask = createAsker({
    quickly: (summary) => quickRead.readLatestDeployment.executeWithOptions({ summary }, [input]),
    patiently: (summary) => patientRead.readLatestDeployment.executeWithOptions({ summary }, [input]),
    elsewhere: (summary) => readElsewhere.readLatestDeployment.executeWithOptions({ summary }, [input]),
  });
  return async (summary) => withMeaning(statuses.deployment, await ask(summary));
}

export function backupReader({ service, statuses, backupId }: RecordedService & { backupId: string }): Reader {
  const input = { service, backupId };
  const ask = createAsker({
    quickly: (summary) => quickRead.readBackup.executeWithOptions({ summary }, [input]),
    patiently: (summary) => patientRead.readBackup.executeWithOptions({ summary }, [input]),
    elsewhere: (summary) => readElsewhere.readBackup.executeWithOptions({ summary }, [input]),
  });
  return async (summary) => withMeaning(statuses.backup, await ask(summary));
}

function withMeaning(words: FinalWords, answer: ReadAnswer): ReadResult {
  return answer.ok ? { ...answer, state: stateOfStatus(words, answer.status) } : answer;
}

function createAsker({ quickly, patiently, elsewhere }: Record<'quickly' | 'patiently' | 'elsewhere', Ask>): Ask {
  let slowInARow = 0;
  let notHere = 0;

  async function readFirst(summary: string): Promise<ReadAnswer> {
    if (notHere > 0) notHere -= 1;
    else if (slowInARow < MAX_SLOW_IN_A_ROW) {
      const read = await quickly(summary).catch(lostRead);
      const isSlow = !read.ok && read.kind === 'timeout' && read.ofThisWorker === undefined;
      slowInARow = isSlow ? slowInARow + 1 : 0;
      if (!isSlow) return read;
    }
    return patiently(summary).catch(lostRead);
  }

  return async (summary) => {
    const read = await readFirst(summary);
    if (read.ok || read.ofThisWorker === undefined) return read;
    // If no other worker takes it, the first failure counts.
    const second = await elsewhere(summary).catch(() => read);
    if (second.ok) notHere = READS_ELSEWHERE;
    return second;
  };
}

function lostRead(): ReadFailure {
  const message = 'the worker did not finish the read';
  return { ok: false, kind: 'timeout', httpStatus: null, isJson: false, retryAfterMs: null, message };
}
