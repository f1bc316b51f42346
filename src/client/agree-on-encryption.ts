/** Keeps a starter from giving the workers what they refuse to read, and from starting what it cannot read itself. */
import { parseIdentity } from '../contract/worker-identity.ts';
import { BelayError } from '../contract/errors.ts';
import type { Session } from './session.ts';

/** One worker that agrees is enough: one that has stopped is listed for another minute. @throws BelayError `Usage` */
export function agreeOnEncryption(
  { encrypts, taskQueue }: Pick<Session, 'encrypts' | 'taskQueue'>,
  workers: readonly string[],
): void {
  const ours = workers.flatMap((identity) => parseIdentity(identity) ?? []);
  if (ours.length === 0 || ours.some((it) => (it.encrypts ?? false) === encrypts)) return;
  const problem = encrypts
    ? `the workers of the task queue "${taskQueue}" do not encrypt, and this program does`
    : `the workers of the task queue "${taskQueue}" encrypt, and this program has no key`;
  const remedy = `set BELAY_CODEC_KEYS_FILE ${encrypts ? 'where they run, too' : 'to the key file that they have'}`;
  throw new BelayError('Usage', `${problem}: ${remedy}`);
}
