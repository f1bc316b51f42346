/** Everything that activities need from outside. The worker passes it in. */
import type { LookupsAndSignals } from '../client/lookups/index.ts';
import type { Notifier } from '../features/notifications/worker.ts';
import type { TriggerDeps } from './post-trigger.ts';
import type { OnRead } from './read-status.ts';
import type { Pool } from './pooled-wait.ts';
import type { Policy } from '../config/policy.ts';
import type { GetPage } from '../features/gates/worker-measure.ts';
import type { ReadSite } from '../site-check/index.ts';

export type Deliveries = Omit<Notifier, 'settings'>;

interface Admission {
  /** Takes a place for a run that begins now. @returns false if the run has to wait for admission */
  admitNewcomer: () => boolean;
  /** @param dueMs when a read that is made now was due, by Temporal's clock. @returns how late it is */
  noteRead: (dueMs: number) => number;
}

export interface ActivityDeps extends TriggerDeps {
  admission: Admission;
  /** These are activities without a wrapper. */
  lookupsAndSignals: LookupsAndSignals;
  deliveries: Deliveries;
  policy: () => Promise<Policy>;
  readSite: ReadSite;
  /** Reads pages for gates. */
  getPage: GetPage;
  pool: Pool;
  onRead?: OnRead;
}
