/**
 * Decides whether a site has never been deployed. The service documents no answer for that. A 404 may mean it, but may
 * also come from a balancer or a proxy, and to take yesterday's `completed` for ours would be a wrong verdict. Pure.
 */
import type { ReadResult } from '../contract/activities.ts';
import { TIMING } from '../contract/timing.ts';
import type { AdmissionRead } from '../contract/operation.ts';

/** When to read, so that the proof does not take intervals. */
export const FIRST_READS_MS: readonly number[] = [0, ...TIMING.poll.earlyReadsMs];

/** Reads in a row that must say so. */
const NOT_DEPLOYED_READS = 3;

/** A 404 in JSON: the service itself knows no deployment of the site. */
export const isNotDeployed = (read: ReadResult): boolean => !read.ok && read.httpStatus === 404 && read.isJson;

export function admissionRead(read: ReadResult): AdmissionRead {
  if (read.ok) return 'status';
  return isNotDeployed(read) ? 'not_deployed' : 'failed';
}

export interface NeverDeployed {
  /** Whether this read completes the proof. Any other answer than a JSON 404 starts it again. */
  isProvenBy(read: ReadResult): boolean;
}

/** @param earlier what this run has read of the site before: after a status, no 404 can prove it */
export function watchForNeverDeployed(earlier: AdmissionRead): NeverDeployed {
  let inARow = earlier === 'not_deployed' ? 1 : 0;
  let deployed = earlier === 'status';
  return {
    isProvenBy(read) {
      deployed ||= read.ok;
      inARow = isNotDeployed(read) && !deployed ? inARow + 1 : 0;
      return inARow >= NOT_DEPLOYED_READS;
    },
  };
}
