/** Everything that activities need from outside. The worker passes it in. */
import type { LookupsAndSignals } from '../client/lookups/index.ts';
import type { NotifyInput } from '../features/notifications/shapes.ts';
import type { ReportAnswer, ReportMessage } from '../features/reports/shapes.ts';
import type { WorkerInfo } from '../contract/activities.ts';
import type { HostingApiClient } from '../hosting-api/index.ts';
import type { TriggerDeps } from './post-trigger.ts';
import type { OnRead } from './read-status.ts';
import type { Pool } from './pooled-wait.ts';
import type { Rest } from './failures.ts';
import type { Policy } from '../config/policy.ts';
import type { GetPage } from '../features/gates/worker-measure.ts';
import type { ReadSite } from '../site-check/index.ts';

export interface Deliveries {
  /** @returns false if this worker does not have the channel. @throws Error whose message contains no address */
  sendNotification: (input: NotifyInput) => Promise<boolean>;
  /** @returns false if this worker does not have the heartbeat. @throws Error whose message contains no address */
  callHeartbeat: (name: string) => Promise<boolean>;
  sendReport: (message: ReportMessage) => Promise<ReportAnswer>;
}

interface Admission {
  /** @returns false if a run that begins has to wait for admission */
  admitsNewcomer: () => boolean;
  /** @param dueMs when a read that is made now was due, by Temporal's clock. @returns how late it is */
  noteRead: (dueMs: number) => number;
}

export interface ActivityDeps extends Omit<TriggerDeps, 'served'> {
  service: HostingApiClient;
  rest: Rest;
  workerInfo: WorkerInfo;
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
