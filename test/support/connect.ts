import { Connection } from '@temporalio/client';

/** Waits as long as a busy machine takes to answer: the default is ten seconds. */
export const connectTo = (address: string): Promise<Connection> =>
  Connection.connect({ address, connectTimeout: 120_000 });
