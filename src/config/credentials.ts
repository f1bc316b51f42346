/**
 * What proves to Temporal who connects: an API key or a client certificate. It is checked here, because Temporal ends the
 * connection of a certificate that it does not accept without a reason.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ConfigError } from './environment/config-error.ts';
import { loadProfile, profileFile, type LoadedProfile } from './load-profile.ts';

export type ConnectionOptions = LoadedProfile['connectionOptions'] & { address: string };

/** What a connection is opened with. */
export interface Access {
  connectionOptions: ConnectionOptions;
  /** When the client certificate ends, by its own statement; null if there is none. */
  certificateEndMs: number | null;
}

/** Credentials that may change while a program runs. */
export interface Credentials {
  /** Reads their files. @throws ConfigError for what Temporal would refuse, and for what was there before and is gone */
  read(): Access;
}

interface Endpoint {
  connectionOptions: ConnectionOptions;
  /** Null if the connection needs none. */
  credentials: Credentials | null;
}

/** What a connection is opened with now. @throws ConfigError */
export const accessTo = ({ connectionOptions, credentials }: Endpoint): Access =>
  credentials === null ? { connectionOptions, certificateEndMs: null } : credentials.read();

/** @param address that stays, whatever the files say later. @returns null if the connection needs no credentials */
export function credentialsOf({ connectionOptions: first }: LoadedProfile, address: string): Credentials | null {
  const certificate = pairOf(first) !== undefined;
  if (!first.apiKey && !first.tls) return null;
  return {
    read() {
      const { connectionOptions: now, certificateFrom } = loadProfile();
      if (first.apiKey && !now.apiKey)
        throw new ConfigError(`${profileFile()} has no api_key any more: add the new one`);
      if (certificate && pairOf(now) === undefined) {
        throw new ConfigError('the client certificate for Temporal is not set any more: add the new one');
      }
      return { connectionOptions: { ...now, address }, certificateEndMs: certificateEnd(now, certificateFrom) };
    },
  };
}

const pairOf = ({ tls }: LoadedProfile['connectionOptions']) =>
  typeof tls === 'object' ? tls?.clientCertPair : undefined;

function certificateEnd(options: LoadedProfile['connectionOptions'], from: string | null): number | null {
  const pair = pairOf(options);
  if (pair === undefined) return null;
  const refuse = (problem: string) => new ConfigError(`the client certificate in ${from} ${problem}`);
  const certificate = parse(
    () => new X509Certificate(pair.crt),
    () => refuse('is not a certificate in PEM'),
  );
  const key = parse(
    () => createPrivateKey(Buffer.from(pair.key)),
    () => refuse('has a key that is not a key in PEM'),
  );
  if (!certificate.checkPrivateKey(key)) throw refuse('belongs to another key: put both files of one pair there');
  const [beginMs, endMs] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (endMs <= Date.now()) throw refuse(`expired on ${dayOf(endMs)}: put a valid one there`);
  if (beginMs > Date.now()) throw refuse(`is not valid before ${new Date(beginMs).toISOString()}: check the clock`);
  return endMs;
}

function parse<T>(read: () => T, refusal: () => ConfigError): T {
  try {
    return read();
  } catch {
    throw refusal();
  }
}

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
