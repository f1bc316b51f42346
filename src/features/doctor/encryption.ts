/** Checks the key file, and that this program and the workers agree on encryption. */
import { agreeOnEncryption } from '../../client/agree-on-encryption.ts';
import type { QueueState } from '../../client/pollers.ts';
import { acceptsPlainPayloads, codecKeysFile } from '../../config/environment/environment.ts';
import { permissionProblem, readKeyFile } from '../../encryption/key-file.ts';
import type { Check, Finding } from '../../cli/doctor-check.ts';

/** @param look finds the workers of the queue; null if Temporal does not answer */
export function encryptionCheck(look: () => Promise<{ seen: QueueState } | null>, taskQueue: string): Check {
  return {
    name: 'encryption',
    run: async () => {
      const path = codecKeysFile();
      const finding = path === null ? PLAIN : keysFinding(path);
      const looked = await look();
      const workers = looked?.seen.pollers.map(({ identity }) => identity) ?? [];
      agreeOnEncryption({ encrypts: path !== null, taskQueue }, workers);
      return finding;
    },
  };
}

const PLAIN: Finding = { state: 'ok', message: 'off; Temporal stores inputs, results and errors as plain text' };

/** @throws ConfigError */
function keysFinding(path: string): Finding {
  const { current, keys } = readKeyFile(path);
  const message = `encrypts with the key "${current.id}", and decrypts with ${keys.size === 1 ? 'it' : `${keys.size} keys`}`;
  const open = permissionProblem(path);
  if (open !== null) return { state: 'warning', message: `${message}, but ${open}` };
  if (!acceptsPlainPayloads()) return { state: 'ok', message };
  const remedy = 'unset BELAY_CODEC_ACCEPT_PLAIN once Temporal keeps no workflow from before encryption';
  return { state: 'warning', message: `${message}; plain payloads are accepted`, remedy };
}
