/** Finds the Temporal server: the one that was named, else that of a running `belay dev`, else the default one. */
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { ConfigError } from '../environment/config-error.ts';
import { homeFolder, isTemporalConfigured, temporalAddress, uiUrl } from '../environment/environment.ts';
import { defaultOf } from '../environment/variables.ts';
import { readDevServerRecord } from './dev-server-record.ts';

const DEFAULT_ADDRESS = '127.0.0.1:7233';
/** The embedded server has no other. */
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
  connectionOptions: ClientConnectConfig['connectionOptions'] & { address: string };
  namespace: string;
  /** Address of the UI for people; null if unknown. */
  uiUrl: string | null;
  origin: EndpointOrigin;
  /** Whether something else names another Temporal, so that a command should say which one it uses. */
  isOneOfSeveral: boolean;
}

/**
 * A server that someone named wins. A running `belay dev` wins over a default profile that no one named: that profile
 * is there for Temporal's own tools, and often means production.
 * @throws ConfigError
 */
export function findTemporal(): TemporalEndpoint {
  const { connectionOptions, namespace = defaultOf('TEMPORAL_NAMESPACE') } = loadConfigured();
  const { address } = connectionOptions;
  const record = readDevServerRecord(homeFolder());
  const dev = record?.temporal ?? null;
  const isOneOfSeveral = dev !== null && address !== undefined && address !== dev;
  if (dev !== null && !isTemporalConfigured()) {
    const connection = { connectionOptions: { address: dev }, namespace: DEV_NAMESPACE };
    return { ...connection, uiUrl: uiUrl() ?? record?.ui ?? null, origin: 'dev', isOneOfSeveral };
  }
  return {
    connectionOptions: { ...connectionOptions, address: address ?? DEFAULT_ADDRESS },
    namespace,
    uiUrl: uiUrl(),
    origin: originOf(address),
    isOneOfSeveral,
  };
}

function originOf(address: string | undefined): EndpointOrigin {
  if (temporalAddress() !== null) return 'TEMPORAL_ADDRESS';
  if (address === undefined) return 'default';
  return isTemporalConfigured() ? 'profile' : 'default profile';
}

function loadConfigured(): ClientConnectConfig {
  try {
    return loadClientConnectConfig();
  } catch (error) {
    // Safe to show: the message contains the name of the file or profile, but none of their values.
    throw new ConfigError(
      `cannot read the configuration of Temporal: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
