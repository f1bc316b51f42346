/** Takes the place of workflows/common/cancellation.ts, which runs and operations call first: they begin with a timer. */
import { sleep } from '@temporalio/workflow';
import { observeCancellation as observe, type Cancellation } from '../../src/workflows/common/cancellation.ts';

export type { Cancellation };

export function observeCancellation(): Cancellation {
  void sleep(1).catch(() => undefined);
  return observe();
}
