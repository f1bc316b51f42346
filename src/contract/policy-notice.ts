/** How a worker reports its policy: as the identity of a poll that takes no work, because Temporal lists it. Pure. */

export interface PolicyNotice {
  /** Of the policy in force. */
  hash: string;
  /** False: the file has changed since, and cannot be used. */
  isLatest: boolean;
  /** The identity of the worker. */
  worker: string;
}

/** Nothing is ever scheduled on it. */
export const policyQueue = (taskQueue: string): string => `belay-policy:${taskQueue}`;

export const policyNoticeText = ({ hash, isLatest, worker }: PolicyNotice): string =>
  `policy ${hash}${isLatest ? '' : ' outdated'} of ${worker}`;

/** @returns null for anything else */
export function parsePolicyNotice(text: string): PolicyNotice | null {
  const [, hash, outdated, worker] = /^policy (\S+)( outdated)? of (.+)$/.exec(text) ?? [];
  return hash === undefined || worker === undefined ? null : { hash, isLatest: outdated === undefined, worker };
}
