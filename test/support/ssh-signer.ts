/** Keys that sign as `ssh-keygen -Y sign` does. They live as long as their test. */
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { wireString } from '../../src/features/approvals/proof-ssh.ts';
import { APPROVAL_NAMESPACE } from '../../src/features/approvals/text.ts';

export interface SshSigner {
  /** As in a file of allowed signers: type and key. */
  publicKey: string;
  sign: (text: string, how?: How) => string;
}

interface How {
  namespace?: string;
  hash?: string;
  magic?: string;
  version?: number;
  algorithm?: string;
  /** Of a security key. */
  flags?: number;
}

const APPLICATION = 'ssh:';

/** @param isSecurityKey whether it signs as a security key does */
export function newSshSigner(isSecurityKey = false): SshSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const type = isSecurityKey ? 'sk-ssh-ed25519@openssh.com' : 'ssh-ed25519';
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const parts = [type, x, ...(isSecurityKey ? [APPLICATION] : [])];
  const blob = Buffer.concat(parts.map(wireString));
  return {
    publicKey: `${type} ${blob.toString('base64')}`,
    sign: (text, how = {}) => armored(signatureOf({ blob, type, privateKey, isSecurityKey }, text, how)),
  };
}

/** A line of the file for each. */
export const allowedSigners = (signers: Record<string, SshSigner>): string =>
  Object.entries(signers)
    .map(([principal, { publicKey }]) => `${principal} ${publicKey}\n`)
    .join('');

interface Key {
  blob: Buffer;
  type: string;
  privateKey: KeyObject;
  isSecurityKey: boolean;
}

function signatureOf({ blob, type, privateKey, isSecurityKey }: Key, text: string, how: How): Buffer {
  const { namespace = APPROVAL_NAMESPACE, hash = 'sha512', magic = 'SSHSIG', version = 1, algorithm = type } = how;
  const digest = createHash(hash === 'sha256' ? hash : 'sha512')
    .update(text)
    .digest();
  const message = Buffer.concat([Buffer.from('SSHSIG'), ...[namespace, '', hash, digest].map(wireString)]);
  const signed = isSecurityKey ? bySecurityKey(privateKey, message, how.flags ?? 1) : [sign(null, message, privateKey)];
  const [signature = Buffer.alloc(0), ...more] = signed;
  const content = Buffer.concat([wireString(algorithm), wireString(signature), ...more]);
  return Buffer.concat([Buffer.from(magic), uint32(version), ...[blob, namespace, '', hash, content].map(wireString)]);
}

function bySecurityKey(key: KeyObject, message: Buffer, flags: number): Buffer[] {
  const sha256 = (of: Buffer | string) => createHash('sha256').update(of).digest();
  const tail = Buffer.concat([Buffer.from([flags]), uint32(7)]);
  return [sign(null, Buffer.concat([sha256(APPLICATION), tail, sha256(message)]), key), tail];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const armored = (blob: Buffer): string =>
  [
    '-----BEGIN SSH SIGNATURE-----',
    ...(blob.toString('base64').match(/.{1,70}/g) ?? []),
    '-----END SSH SIGNATURE-----',
    '',
  ].join('\n');
