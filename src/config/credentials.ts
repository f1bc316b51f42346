/**
 * What proves to Temporal who connects: an API key or a client certificate. It is checked here, because Temporal ends the
 * connection of a certificate that it does not accept without a reason.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  loadClientConfigProfile,
  toClientOptions,
  type ClientConfigProfile,
  type ClientConnectConfig,
  type ConfigDataSource,
} from '@temporalio/envconfig';
import { ConfigError, given, unreadableFile } from './environment/variables.ts';

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
  const hasCertificate = pairOf(first) !== undefined;
  if (!first.apiKey && !first.tls) return null;
  return {
    read() {
      const { connectionOptions: now, certificateFrom } = loadProfile();
      if (first.apiKey && !now.apiKey)
        throw new ConfigError(`${profileFile()} has no api_key any more: add the new one`);
      if (hasCertificate && pairOf(now) === undefined) {
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

/* Reads how to connect to Temporal from its variables and its profile file. Errors repeat none of their values. */

interface LoadedProfile extends ClientConnectConfig {
  /** Where the client certificate comes from, for messages; null if there is none. */
  certificateFrom: string | null;
}

/** @throws ConfigError */
export function loadProfile(): LoadedProfile {
  try {
    // The SDK ignores a file that is missing.
    const file = given('TEMPORAL_CONFIG_FILE');
    if (file !== null) readFileSync(file);
    const profile = loadClientConfigProfile();
    refuseHalves(profile);
    return { ...toClientOptions(profile), certificateFrom: placeOf(profile.tls?.clientCert) };
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`cannot read the configuration of Temporal: ${reasonOf(error)}`);
  }
}

/** The SDK would connect without the certificate. */
function refuseHalves({ apiKey, tls }: ClientConfigProfile): void {
  const [certificate, key] = [tls?.clientCert, tls?.clientKey];
  if (certificate !== undefined && key === undefined) {
    throw new ConfigError('a client certificate for Temporal is set without its key: set TEMPORAL_TLS_CLIENT_KEY_PATH');
  }
  if (certificate === undefined && key !== undefined) {
    throw new ConfigError(
      'a client key for Temporal is set without its certificate: set TEMPORAL_TLS_CLIENT_CERT_PATH',
    );
  }
  // A profile file may contain anything.
  if (apiKey !== undefined && typeof (apiKey as unknown) !== 'string') {
    throw new ConfigError(`api_key in ${profileFile()} is not a string: put it in quotes`);
  }
}

function placeOf(source: ConfigDataSource | undefined): string | null {
  if (source === undefined) return null;
  return 'path' in source ? source.path : 'TEMPORAL_TLS_CLIENT_CERT_DATA or its profile';
}

/** For messages. */
export const profileFile = (): string => given('TEMPORAL_CONFIG_FILE') ?? 'the profile file of Temporal';

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (/^Profile .* not found/.test(error.message))
    return `${profileFile()} has no profile ${given('TEMPORAL_PROFILE')}: add it, or correct TEMPORAL_PROFILE`;
  const { line, path = profileFile(), code } = error as { line?: unknown; path?: string; code?: string };
  if (code !== undefined) return unreadableFile(path, { code });
  // The message of the TOML parser repeats the lines around the mistake, and so perhaps a key.
  return typeof line === 'number' ? `line ${line} of ${profileFile()} is not TOML` : error.message;
}

/** Whether an address is one of Temporal Cloud, where a namespace is set up with other commands. */
export const isTemporalCloud = (address: string): boolean => /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/.test(address);
