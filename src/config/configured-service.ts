/** The service that the environment or belay.yaml names, for programs that hold no token of it. */
import { withAccount } from '../contract/service-identity.ts';
import { namedAccount, namedService } from './environment/environment.ts';
import { readConfiguration } from './load.ts';

interface ConfiguredService {
  /** Null if neither names one. */
  service: string | null;
  /** What each of them names, the one that counts first. */
  named: string[];
  formerly: string[];
}

/** @throws ConfigError */
export async function configuredService(): Promise<ConfiguredService> {
  const { service, formerly = [] } = await readConfiguration();
  const account = namedAccount();
  const inFile = service === undefined ? null : withAccount(service, account);
  const named = [namedService(), inFile].filter((it) => it !== null);
  return { service: named[0] ?? null, named, formerly: formerly.map((identity) => withAccount(identity, account)) };
}
