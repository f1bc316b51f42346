/** Connects a worker to Temporal. */
import { NativeConnection } from '@temporalio/worker';
import type { TemporalEndpoint } from '../config/temporal/find-temporal.ts';
import { plainText } from '../contract/wording/safe-text.ts';

/** @returns the connection, or why there is none and what to do */
export async function tryConnect({
  connectionOptions,
}: Pick<TemporalEndpoint, 'connectionOptions'>): Promise<{ ready: NativeConnection } | { problem: string }> {
  try {
    return { ready: await NativeConnection.connect(connectionOptions) };
  } catch (error) {
    const problem = `Temporal at ${connectionOptions.address} does not answer: ${whyUnreachable(error)}`;
    return { problem: `${problem}. Start it, or set TEMPORAL_ADDRESS to its address` };
  }
}

/** The SDK's connection error, shortened for people. */
export function whyUnreachable(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.includes('ConnectionRefused') ? 'connection refused' : plainText(message);
}
