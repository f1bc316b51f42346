/** The Temporal that is looked at. */
import type { NativeConnection } from '@temporalio/worker';

export interface Place {
  connection: NativeConnection;
  namespace: string;
}
