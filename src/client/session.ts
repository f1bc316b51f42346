/** What the parts of the starter share. */
import type { Client } from '@temporalio/client';

export interface Session {
  client: Client;
  namespace: string;
  taskQueue: string;
  /** Where people reach the Temporal UI; null where nobody said. */
  uiUrl: string | null;
}
