/** Public keys of SSH, as keys of Node's crypto. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { ApprovalError } from './errors.ts';
import { readWire, type WireReader } from './ssh-wire.ts';

export interface SshKey {
  /** As in files of OpenSSH: `ssh-ed25519`. */
  type: string;
  key: KeyObject;
  /** Bytes of one of the two numbers of an ECDSA signature. */
  ecdsaBytes: number | null;
  /** What a security key signs for; null for other keys. */
  application: string | null;
}

const CURVES: Record<string, { crv: string; bytes: number }> = {
  nistp256: { crv: 'P-256', bytes: 32 },
  nistp384: { crv: 'P-384', bytes: 48 },
  nistp521: { crv: 'P-521', bytes: 66 },
};
const MIN_RSA_BITS = 2_048;
const MAX_RSA_BITS = 16_384;

const KEY_TYPES = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
] as const;

/** @throws ApprovalError */
export function parseSshKey(blob: Buffer): SshKey {
  const wire = readWire(blob, 'the public key');
  const type = wire.text();
  const { key, ecdsaBytes = null } = keyOf(type, wire);
  const application = type.startsWith('sk-') ? wire.text() : null;
  wire.end();
  return { type, key, ecdsaBytes, application };
}

/** As `ssh-keygen -l` shows it. */
export const fingerprint = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

function keyOf(type: string, wire: WireReader): { key: KeyObject; ecdsaBytes?: number } {
  switch (type) {
    case 'ssh-ed25519':
    case 'sk-ssh-ed25519@openssh.com':
      return { key: fromJwk({ kty: 'OKP', crv: 'Ed25519', x: base64url(exactly(wire.string(), 32)) }) };
    case 'ssh-rsa':
      return { key: rsaKey(wire) };
    case 'ecdsa-sha2-nistp256':
    case 'ecdsa-sha2-nistp384':
    case 'ecdsa-sha2-nistp521':
    case 'sk-ecdsa-sha2-nistp256@openssh.com':
      return ecdsaKey(type, wire);
    default:
      throw new ApprovalError(`keys of the type ${type} are not supported: use ${KEY_TYPES.join(', ')}`);
  }
}

function ecdsaKey(type: string, wire: WireReader) {
  const curve = wire.text();
  const { crv, bytes } = CURVES[curve] ?? { crv: '', bytes: 0 };
  if (bytes === 0 || !type.includes(curve)) throw new ApprovalError(`the public key names the curve ${curve}`);
  const point = exactly(wire.string(), 1 + 2 * bytes);
  if (point[0] !== 4) throw new ApprovalError('the public key is compressed, which SSH does not use');
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)].map(base64url);
  return { key: fromJwk({ kty: 'EC', crv, x, y }), ecdsaBytes: bytes };
}

function rsaKey(wire: WireReader): KeyObject {
  const [e, n] = [wire.positive(), wire.positive()];
  const bits = n.length * 8;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
    throw new ApprovalError(`the RSA key has ${bits} bits: use ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`);
  return fromJwk({ kty: 'RSA', n: base64url(n), e: base64url(e) });
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
