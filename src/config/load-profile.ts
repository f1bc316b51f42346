/** Reads how to connect to Temporal from its variables and its profile file. Errors repeat none of their values. */
import {
  loadClientConfigProfile,
  toClientOptions,
  type ClientConfigProfile,
  type ClientConnectConfig,
  type ConfigDataSource,
} from '@temporalio/envconfig';
import { ConfigError } from './environment/config-error.ts';
import { temporalConfigFile } from './environment/environment.ts';

export interface LoadedProfile extends ClientConnectConfig {
  /** Where the client certificate comes from, for messages; null if there is none. */
  certificateFrom: string | null;
}

/** @throws ConfigError */
export function loadProfile(): LoadedProfile {
  try {
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
export const profileFile = (): string => temporalConfigFile() ?? 'the profile file of Temporal';

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { line } = error as { line?: unknown };
  // The message of the TOML parser repeats the lines around the mistake, and so perhaps a key.
  return typeof line === 'number' ? `line ${line} of ${profileFile()} is not TOML` : error.message;
}
