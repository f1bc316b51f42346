/** Signs a decision with `ssh-keygen`, which also asks an agent, a security key or a person for the passphrase. */
import { spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BelayError } from '../../contract/errors.ts';
import { APPROVAL_NAMESPACE } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';

/** In the order in which `ssh` itself looks for them. */
const DEFAULT_KEYS = ['id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk', 'id_rsa'];

/**
 * @param key a private key, or a public one whose private one an agent holds; undefined for the user's default
 * @returns the signature in the format of OpenSSH
 */
export async function signBySsh(signed: string, key: string | undefined): Promise<string> {
  const file = key ?? (await defaultKey());
  const keygen = spawn('ssh-keygen', ['-Y', 'sign', '-n', APPROVAL_NAMESPACE, '-f', file], { stdio: 'pipe' });
  const ended = new Promise<number | null>((resolve, reject) => keygen.once('error', reject).once('close', resolve));
  // It may have ended before it read anything: its exit code says so.
  keygen.stdin.on('error', () => undefined).end(signed);
  const output = Promise.all([text(keygen.stdout), text(keygen.stderr)]);
  const code = await ended.catch((error: NodeJS.ErrnoException) => {
    const remedy = error.code === 'ENOENT' ? 'install OpenSSH' : (error.code ?? error.message);
    throw new BelayError('Usage', `ssh-keygen, which signs approvals, cannot be run: ${remedy}`);
  });
  const [signature, complaint] = await output;
  if (code === 0 && signature !== '') return signature;
  throw new BelayError(
    'Usage',
    `ssh-keygen did not sign with ${file}: ${plainText(complaint) || `it exited with ${code}`}`,
  );
}

async function defaultKey(): Promise<string> {
  for (const name of DEFAULT_KEYS) {
    const file = join(homedir(), '.ssh', name);
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  throw new BelayError('Usage', `there is no key to sign with in ${join(homedir(), '.ssh')}: name one with --key`);
}
