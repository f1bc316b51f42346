/** Which Temporal to use: the one that was configured, else that of a running `belay dev`, else the usual address. */
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { ConfigError, homeFolder, uiUrl } from '../environment/environment.ts';
import { readNote } from '../../dev/claim-home.ts';

const DEFAULT_ADDRESS = '127.0.0.1:7233';

export interface TemporalPlace {
  connectionOptions: ClientConnectConfig['connectionOptions'] & { address: string };
  namespace: string;
  /** Where people reach the UI, as far as anybody said. */
  uiUrl: string | null;
}

/** @throws ConfigError */
export function findTemporal(): TemporalPlace {
  const { connectionOptions, namespace = 'default' } = loadConfigured();
  const { address } = connectionOptions;
  if (address !== undefined) {
    return { connectionOptions: { ...connectionOptions, address }, namespace, uiUrl: uiUrl() };
  }
  const note = readNote(homeFolder());
  return {
    connectionOptions: { ...connectionOptions, address: note?.temporal ?? DEFAULT_ADDRESS },
    namespace,
    uiUrl: uiUrl() ?? note?.ui ?? null,
  };
}

function loadConfigured(): ClientConnectConfig {
  try {
    return loadClientConnectConfig();
  } catch (error) {
    // It names the file or profile, and holds none of their values.
    throw new ConfigError(`Temporal's configuration: ${error instanceof Error ? error.message : String(error)}`);
  }
}
