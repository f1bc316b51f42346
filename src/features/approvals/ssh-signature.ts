/**
 * Verifies what `ssh-keygen -Y sign` printed, by OpenSSH's PROTOCOL.sshsig. The worker's image has no OpenSSH, so this is
 * done with Node's crypto.
 */
import { createHash, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { ApprovalError } from './errors.ts';
import { parseSshKey, type SshKey } from './proof-ssh.ts';
import { readWire, wireString } from './ssh-wire.ts';

/** One of an RSA key with 16,384 bits is shorter. */
const MAX_LENGTH = 16_384;
const ARMOR = /^\s*-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/;
const MAGIC = 'SSHSIG';
const HASHES = ['sha256', 'sha512'];
const USER_PRESENT = 1;

/** @returns the public key that signed the text, as it is encoded. @throws ApprovalError if the signature is not good */
export function verifySshSignature(signature: string, text: string, namespace: string): Buffer {
  const wire = readWire(unarmored(signature), 'the signature');
  if (wire.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new ApprovalError('this is not a signature of SSH');
  const version = wire.uint32();
  if (version !== 1) throw new ApprovalError(`the signature has version ${version}, and only 1 is known`);
  const [publicKey, signedNamespace, reserved, hash, signed] = [
    wire.string(),
    wire.text(),
    wire.string(),
    wire.text(),
    wire.string(),
  ];
  wire.end();
  if (signedNamespace !== namespace)
    throw new ApprovalError(`the signature is for another use: sign with -n ${namespace}`);
  if (!HASHES.includes(hash)) throw new ApprovalError('the signature uses a hash other than sha256 and sha512');
  const digest = createHash(hash).update(text, 'utf8').digest();
  const message = Buffer.concat([
    Buffer.from(MAGIC),
    ...[Buffer.from(namespace), reserved, Buffer.from(hash), digest].map(wireString),
  ]);
  if (!isSigned(signed, message, parseSshKey(publicKey)))
    throw new ApprovalError('the signature is not one of this text: sign exactly what is asked');
  return publicKey;
}

function unarmored(signature: string): Buffer {
  if (signature.length > MAX_LENGTH) throw new ApprovalError('the signature is too long to be one');
  const [, body] = ARMOR.exec(signature) ?? [];
  if (body === undefined) throw new ApprovalError('the signature is not what `ssh-keygen -Y sign` prints');
  return Buffer.from(body, 'base64');
}

function isSigned(signed: Buffer, message: Buffer, { type, key, ecdsaBytes, application }: SshKey): boolean {
  const wire = readWire(signed, 'the signature');
  const algorithm = wire.text();
  const content = wire.string();
  if (application === null) {
    wire.end();
    return isOf(content, message, algorithm, { type, key, ecdsaBytes });
  }
  const flags = wire.byte();
  const counter = wire.bytes(4);
  wire.end();
  if ((flags & USER_PRESENT) === 0)
    throw new ApprovalError('the security key signed without a touch: use a key that asks for one');
  const sha256 = (of: Buffer | string) => createHash('sha256').update(of).digest();
  const whole = Buffer.concat([sha256(application), Buffer.from([flags]), counter, sha256(message)]);
  return isOf(content, whole, algorithm, { type, key, ecdsaBytes });
}

const RSA_HASHES: Record<string, string> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };
const ECDSA_HASHES: Record<number, string> = { 32: 'sha256', 48: 'sha384', 66: 'sha512' };

function isOf(
  content: Buffer,
  message: Buffer,
  algorithm: string,
  { type, key, ecdsaBytes }: Omit<SshKey, 'application'>,
): boolean {
  if (type === 'ssh-rsa') {
    const hash = RSA_HASHES[algorithm];
    if (hash === undefined) throw new ApprovalError('the signature uses SHA-1: sign with rsa-sha2-512');
    return isVerified(hash, message, { key }, content);
  }
  if (algorithm !== type) throw new ApprovalError(`the signature is of the type ${algorithm}, and its key is ${type}`);
  if (ecdsaBytes === null) return isVerified(null, message, { key }, content);
  const wire = readWire(content, 'the signature');
  const numbers = [wire.positive(), wire.positive()];
  wire.end();
  if (numbers.some(({ length }) => length > ecdsaBytes)) return false;
  const padded = numbers.map((it) => Buffer.concat([Buffer.alloc(ecdsaBytes - it.length), it]));
  const numbered = { key, dsaEncoding: 'ieee-p1363' } as const;
  return isVerified(ECDSA_HASHES[ecdsaBytes] ?? null, message, numbered, Buffer.concat(padded));
}

/** OpenSSL throws for some keys that could be parsed. */
function isVerified(hash: string | null, message: Buffer, key: VerifyKeyObjectInput, signature: Buffer): boolean {
  try {
    return verify(hash, message, key, signature);
  } catch {
    return false;
  }
}
