/**
 * Decides whether a site has never been deployed. The service documents no answer for that. A 404 may mean it, but may
 * also come from a balancer or a proxy. Taking yesterday's `completed` for ours would be a wrong verdict. Pure.
 */
import type { ReadResult } from '../contract/activities.ts';
import { TIMING } from '../contract/timing.ts';
import type { AdmissionRead } from '../contract/operation.ts';

/** These first reads are close together, so that the proof does not take several intervals. */
export const FIRST_READS_MS: readonly number[] = [0, ...TIMING.poll.earlyReadsMs];

/** This many reads in a row have to say so. */
const NOT_DEPLOYED_READS = 3;

/** A 404 with a JSON body comes from the service itself, which knows no deployment of the site. */
export const isNotDeployed = (read: ReadResult): boolean => !read.ok && read.httpStatus === 404 && read.isJson;

export function admissionRead(read: ReadResult): AdmissionRead {
  if (read.ok) return 'status';
  return isNotDeployed(read) ? 'not_deployed' : 'failed';
}

export interface NeverDeployed {
  /** True if this read completes the proof. Any other answer than a JSON 404 starts the proof again. */
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
