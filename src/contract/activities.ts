/** What a worker says of itself: the result of an activity, so stored in running histories. */

export interface WorkerFacts {
  service: string;
  /** Whether the search attributes may be used: an unknown one would fail the workflow task for ever. */
  searchAttributes: boolean;
  /** Absent where nobody is to be told. */
  notify?: NotifyFacts;
}

/** What a worker's configuration offers; names only, the addresses are secrets. */
export interface NotifyFacts {
  /** Which runs' ends are told. */
  on: 'failed' | 'all';
  targets: string[];
  heartbeats: string[];
}
