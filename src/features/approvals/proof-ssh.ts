/** Reads public keys of SSH, and verifies signatures of SSH with Node's crypto. */
import { createHash, createPublicKey, type KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto';
import { ownEntry } from '../../contract/plain-object.ts';
import { APPROVAL_NAMESPACE } from './text.ts';

interface SshKey {
  /** The type as OpenSSH writes it, such as `ssh-ed25519`. */
  type: string;
  key: KeyObject;
  /** The curve of an ECDSA key. Null for other keys. */
  curve: Curve | null;
  /** The application that a security key signs for. Null for other keys. */
  application: string | null;
}

interface Curve {
  crv: string;
  /** The length of each of the two numbers in a signature. */
  bytes: number;
  hash: string;
}

const CURVES: Record<string, Curve> = {
  nistp256: { crv: 'P-256', bytes: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', bytes: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', bytes: 66, hash: 'sha512' },
};
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 16_384;

type ReadKey = (wire: WireReader, type: string) => Pick<SshKey, 'key' | 'curve'>;

/** By the type of the key. */
const KEYS: Record<string, ReadKey> = {
  'ssh-ed25519': ed25519Key,
  'ecdsa-sha2-nistp256': ecdsaKey,
  'ecdsa-sha2-nistp384': ecdsaKey,
  'ecdsa-sha2-nistp521': ecdsaKey,
  'ssh-rsa': rsaKey,
  'sk-ssh-ed25519@openssh.com': ed25519Key,
  'sk-ecdsa-sha2-nistp256@openssh.com': ecdsaKey,
};

/** @throws ApprovalError */
export function parseSshKey(blob: Buffer): SshKey {
  const wire = readWire(blob, 'the public key');
  const type = wire.text();
  const read = ownEntry(KEYS, type);
  if (read === undefined)
    throw new ApprovalError(`keys of the type ${type} are not supported: use ${Object.keys(KEYS).join(', ')}`);
  const parts = read(wire, type);
  const application = type.startsWith('sk-') ? wire.text() : null;
  wire.end();
  return { type, ...parts, application };
}

export const fingerprint = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

function ed25519Key(wire: WireReader) {
  return { key: fromJwk({ kty: 'OKP', crv: 'Ed25519', x: base64url(exactly(wire.string(), 32)) }), curve: null };
}

function ecdsaKey(wire: WireReader, type: string) {
  const name = wire.text();
  const curve = CURVES[name];
  if (curve === undefined || !type.includes(name)) throw new ApprovalError(`the public key names the curve ${name}`);
  const { crv, bytes } = curve;
  const point = exactly(wire.string(), 1 + 2 * bytes);
  if (point[0] !== 4) throw new ApprovalError('the public key is compressed, which SSH does not use');
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)].map(base64url);
  return { key: fromJwk({ kty: 'EC', crv, x, y }), curve };
}

function rsaKey(wire: WireReader) {
  const [e, n] = [wire.positive(), wire.positive()];
  const bits = n.length * 8;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
    throw new ApprovalError(`the RSA key has ${bits} bits: use ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`);
  return { key: fromJwk({ kty: 'RSA', n: base64url(n), e: base64url(e) }), curve: null };
}

function fromJwk(key: Record<string, string | undefined>): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    throw new ApprovalError('the public key is not a point of its curve');
  }
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

function exactly(found: Buffer, length: number): Buffer {
  if (found.length === length) return found;
  throw new ApprovalError(`the public key has ${found.length} bytes instead of ${length}`);
}

/*
 * Verifies what `ssh-keygen -Y sign` printed, by OpenSSH's PROTOCOL.sshsig. It uses Node's crypto, because the worker's
 * image has no OpenSSH.
 */

/** The signature of an RSA key with 16,384 bits is shorter than this. */
const MAX_LENGTH = 16_384;
const ARMOR = /^\s*-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/;
const MAGIC = 'SSHSIG';
const HASHES = ['sha256', 'sha512'];
const USER_PRESENT = 1;

/** @returns the encoded public key that signed the text. @throws ApprovalError if the signature is not good */
export function verifySshSignature(signature: string, text: string): Buffer {
  const wire = readWire(unarmored(signature), 'the signature');
  if (wire.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw new ApprovalError('this is not a signature of SSH');
  const version = wire.uint32();
  if (version !== 1) throw new ApprovalError(`the signature has version ${version}, and only 1 is known`);
  const publicKey = wire.string();
  const signedNamespace = wire.text();
  const reserved = wire.string();
  const hash = wire.text();
  const signed = wire.string();
  wire.end();
  if (signedNamespace !== APPROVAL_NAMESPACE)
    throw new ApprovalError(`the signature is for another use: sign with -n ${APPROVAL_NAMESPACE}`);
  if (!HASHES.includes(hash)) throw new ApprovalError('the signature uses a hash other than sha256 and sha512');
  const digest = createHash(hash).update(text, 'utf8').digest();
  const message = Buffer.concat([
    Buffer.from(MAGIC),
    ...[Buffer.from(signedNamespace), reserved, Buffer.from(hash), digest].map(wireString),
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

function isSigned(signed: Buffer, message: Buffer, key: SshKey): boolean {
  const wire = readWire(signed, 'the signature');
  const algorithm = wire.text();
  const content = wire.string();
  if (key.application === null) {
    wire.end();
    return isByKey(content, message, algorithm, key);
  }
  const flags = wire.byte();
  const counter = wire.bytes(4);
  wire.end();
  if ((flags & USER_PRESENT) === 0)
    throw new ApprovalError('the security key signed without a touch: use a key that asks for one');
  const sha256 = (of: Buffer | string) => createHash('sha256').update(of).digest();
  const whole = Buffer.concat([sha256(key.application), Buffer.from([flags]), counter, sha256(message)]);
  return isByKey(content, whole, algorithm, key);
}

const RSA_HASHES: Record<string, string> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };

function isByKey(content: Buffer, message: Buffer, algorithm: string, { type, key, curve }: SshKey): boolean {
  if (type === 'ssh-rsa') {
    const hash = RSA_HASHES[algorithm];
    if (hash === undefined) throw new ApprovalError('the signature uses SHA-1: sign with rsa-sha2-512');
    return isVerified(hash, message, { key }, content);
  }
  if (algorithm !== type) throw new ApprovalError(`the signature is of the type ${algorithm}, and its key is ${type}`);
  if (curve === null) return isVerified(null, message, { key }, content);
  const wire = readWire(content, 'the signature');
  const numbers = [wire.positive(), wire.positive()];
  wire.end();
  const { bytes, hash } = curve;
  if (numbers.some(({ length }) => length > bytes)) return false;
  const padded = numbers.map((it) => Buffer.concat([Buffer.alloc(bytes - it.length), it]));
  return isVerified(hash, message, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(padded));
}

/** OpenSSL throws for some keys that parse. */
function isVerified(hash: string | null, message: Buffer, key: VerifyKeyObjectInput, signature: Buffer): boolean {
  try {
    return verify(hash, message, key, signature);
  } catch {
    return false;
  }
}

/* Reads the encoding of SSH (RFC 4251), numbers and strings in a row. It checks every length. */

type WireReader = ReturnType<typeof readWire>;

/** @param what names the source in errors */
function readWire(source: Buffer, what: string) {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (length > source.length - at) throw new ApprovalError(`${what} is cut off`);
    at += length;
    return source.subarray(at - length, at);
  };
  const uint32 = () => bytes(4).readUInt32BE();
  const string = () => bytes(uint32());
  return {
    uint32,
    byte: () => bytes(1).readUInt8(),
    bytes,
    string,
    text: () => string().toString('latin1'),
    positive(): Buffer {
      const found = string();
      const first = found[0] ?? 0x80;
      if (first >= 0x80) throw new ApprovalError(`${what} holds a number that is not positive`);
      return first === 0 ? found.subarray(1) : found;
    },
    /** @throws ApprovalError if bytes are left */
    end() {
      if (at < source.length) throw new ApprovalError(`${what} has ${source.length - at} bytes too many`);
    },
  };
}

export function wireString(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The message is for the person who sent the proof or wrote the file of signers. */
export class ApprovalError extends Error {
  override readonly name = 'ApprovalError';
}
