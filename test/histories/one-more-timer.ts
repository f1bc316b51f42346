/** Takes the place of workflows/common/cancellation.ts, which runs and operations call first: they begin with a timer. */
import { sleep } from '@temporalio/workflow';
import {
  observeCancellation as observe,
  observeEnding,
  type Cancellation,
  type Ending,
} from '../../src/workflows/cancellation.ts';

export { observeEnding, type Cancellation, type Ending };

export function observeCancellation(): Cancellation {
  void sleep(1).catch(() => undefined);
  return observe();
}
