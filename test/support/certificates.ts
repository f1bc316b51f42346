/** Makes X.509 certificates without any program: a CA, and what it signs, valid for as long as a test wants. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  cert: string;
  /** PEM. */
  key: string;
}

export interface Authority extends Certificate {
  /** @param options `names` are DNS names that a server has; `endsMs` is the end of its validity. */
  issue(commonName: string, options?: { names?: string[]; endsMs?: number }): Certificate;
}

const DAY_MS = 86_400_000;

type Der = Buffer;

function der(tag: number, ...contents: Der[]): Der {
  const content = Buffer.concat(contents);
  const length = content.length;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const sequence = (...contents: Der[]) => der(0x30, ...contents);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const bits = (content: Der) => der(0x03, Buffer.from([0]), content);
const TRUE = der(0x01, Buffer.from([0xff]));

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const nameOf = (commonName: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))));

/** GeneralizedTime, in whole seconds. */
const time = (ms: number) => der(0x18, Buffer.from(new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')));

const extension = (id: string, isCritical: boolean, value: Der) =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), der(0x04, value));
const IS_AUTHORITY = extension('551d13', true, sequence(TRUE));
const named = (names: readonly string[]) =>
  extension('551d11', false, sequence(...names.map((name) => der(0x82, Buffer.from(name)))));

interface Contents {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signer: KeyObject;
  endsMs: number;
  extensions: Der[];
}

function certificate({ subject, issuer, publicKey, signer, endsMs, extensions }: Contents): string {
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(8)]);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    sequence(time(Math.min(Date.now(), endsMs) - DAY_MS), time(endsMs)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const whole = sequence(body, ECDSA_WITH_SHA256, bits(sign('sha256', body, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string;

export function createAuthority(commonName: string): Authority {
  const own = newKeys();
  const endsMs = Date.now() + 365 * DAY_MS;
  const signed = { issuer: commonName, signer: own.privateKey };
  return {
    key: pem(own.privateKey),
    cert: certificate({ ...signed, subject: commonName, publicKey: own.publicKey, endsMs, extensions: [IS_AUTHORITY] }),
    issue(subject, { names = [], endsMs: until = Date.now() + 90 * DAY_MS } = {}) {
      const { publicKey, privateKey } = newKeys();
      const extensions = names.length === 0 ? [] : [named(names)];
      return { cert: certificate({ ...signed, subject, publicKey, endsMs: until, extensions }), key: pem(privateKey) };
    },
  };
}
