/** Keeps a test from running a build that is older than the source. */
import { isDistCurrent } from '../../tools/dist-stamp.ts';

let isChecked = false;

/** Compares once per process. @throws Error if dist/ was not built from the current source */
export function refuseStaleDist(): void {
  if (isChecked) return;
  if (!isDistCurrent()) {
    throw new Error('dist/ was not built from the current source. Run `npm run build`, then run this test again.');
  }
  isChecked = true;
}
