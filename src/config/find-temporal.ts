/** Finds the Temporal server: the one that was named, else that of a running `belay dev`, else the default one. */
import { ConfigError, defaultOf, given } from './environment/variables.ts';
import {
  homeFolder,
  isTemporalConfigured,
  serviceConfig,
  uiUrl,
  type ServiceConfig,
} from './environment/environment.ts';
import { credentialsOf, type ConnectionOptions, type Credentials, loadProfile, profileFile } from './credentials.ts';
import { readDevServerRecord } from './dev-server-record.ts';

const DEFAULT_ADDRESS = '127.0.0.1:7233';
/** The embedded server has no other, unless someone creates one. */
const DEV_NAMESPACE = 'default';

/** Where the address comes from. */
type EndpointOrigin = 'TEMPORAL_ADDRESS' | 'profile' | 'dev' | 'default profile' | 'default';

/** For people. */
export const ORIGIN_TEXTS: Record<EndpointOrigin, string> = {
  TEMPORAL_ADDRESS: 'from TEMPORAL_ADDRESS',
  profile: 'from TEMPORAL_PROFILE',
  dev: 'of the running `belay dev`',
  'default profile': "from Temporal's default profile",
  default: 'the default address',
};

export interface TemporalEndpoint {
  connectionOptions: ConnectionOptions;
  namespace: string;
  /** Address of the UI for people; null if unknown. */
  uiUrl: string | null;
  origin: EndpointOrigin;
  /** Whether something else names another Temporal, so that a command should say which one it uses. */
  isOneOfSeveral: boolean;
  /** Null if the connection needs none. */
  credentials: Credentials | null;
}

/**
 * A server that someone named wins. A running `belay dev` wins over a default profile that no one named: that profile
 * is there for Temporal's own tools, and often means production.
 * @throws ConfigError
 */
export function findTemporal(): TemporalEndpoint {
  const profile = loadProfile();
  const { connectionOptions, namespace = defaultOf('TEMPORAL_NAMESPACE') } = profile;
  const { address } = connectionOptions;
  const record = readDevServerRecord(homeFolder());
  const dev = record?.temporal ?? null;
  const isOther = (address !== undefined && address !== dev) || namespace !== DEV_NAMESPACE;
  const isOneOfSeveral = dev !== null && isOther;
  if (dev !== null && !isTemporalConfigured()) {
    // A profile's namespace means the server of that profile.
    const named = given('TEMPORAL_NAMESPACE') ?? DEV_NAMESPACE;
    const connection = { connectionOptions: { address: dev }, namespace: named, credentials: null };
    return { ...connection, uiUrl: uiUrl() ?? record?.ui ?? null, origin: 'dev', isOneOfSeveral };
  }
  const used = checkTemporalAddress(
    given('TEMPORAL_ADDRESS') === null ? `address in ${profileFile()}` : 'TEMPORAL_ADDRESS',
    address ?? DEFAULT_ADDRESS,
  );
  return {
    connectionOptions: { ...connectionOptions, address: used },
    namespace,
    uiUrl: uiUrl(),
    origin: originOf(address),
    isOneOfSeveral,
    credentials: credentialsOf(profile, used),
  };
}

/**
 * The service of the environment; without one, the sandbox of the `belay dev` that `findTemporal` leads to. Null if there
 * is neither.
 * @throws ConfigError
 */
export async function findServiceConfig(): Promise<ServiceConfig | null> {
  const configured = await serviceConfig();
  if (configured !== null || isTemporalConfigured()) return configured;
  const sandbox = readDevServerRecord(homeFolder())?.sandbox;
  return sandbox === undefined ? null : { baseUrl: sandbox.url, token: () => Promise.resolve(sandbox.token) };
}

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(:\d{1,5})?$/i;

/** @param where for the message, which does not repeat the address: it may hold a password @throws ConfigError */
export function checkTemporalAddress(where: string, address: string): string {
  if (ADDRESS.test(address)) return address;
  throw new ConfigError(
    `${where} is not an address of Temporal: write host:port, such as temporal.example.com:7233, ` +
      'without a scheme like https://, a slash or blanks',
  );
}

function originOf(address: string | undefined): EndpointOrigin {
  if (given('TEMPORAL_ADDRESS') !== null) return 'TEMPORAL_ADDRESS';
  if (address === undefined) return 'default';
  return isTemporalConfigured() ? 'profile' : 'default profile';
}
