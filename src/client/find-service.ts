/** Finds the service that a starter means, so that the first worker to take a run does not decide it. */
import { configuredService } from '../config/configured-service.ts';
import { namedAccount } from '../config/environment/environment.ts';
import { BelayError } from '../contract/errors.ts';
import { isOfAccount, type ServedService } from '../contract/service-identity.ts';
import { parseIdentity } from '../contract/worker-identity.ts';
import { TIMING } from '../contract/timing.ts';
import type { Session } from './session.ts';
import { within } from './within.ts';
import { pollerIdentities } from './workers.ts';

/**
 * @param workers identities of the queue's workers. @returns null if the service is unknown. @throws BelayError `Usage`
 */
export async function findService(
  session: Pick<Session, 'service' | 'taskQueue'>,
  workers: readonly string[],
): Promise<ServedService | null> {
  const configured = await configuredService();
  const service = session.service ?? configured.service ?? servedByAll(session, workers, configured.formerly);
  return service === null ? null : { service, formerly: configured.formerly };
}

/** Returns the identity of the service that a start would be for now. @throws BelayError */
export async function findServiceNow(session: Session, ms: number = TIMING.client.startMs): Promise<string | null> {
  const served = await within(session, ms, 'find the service', async () =>
    findService(session, pollerIdentities(await session.workers())),
  );
  return served?.service ?? null;
}

/**
 * While a service moves, workers poll for its old and its new URL. @throws BelayError `Usage` if the workers serve
 * several services, or another account than `BELAY_ACCOUNT`
 */
function servedByAll(
  { taskQueue }: Pick<Session, 'taskQueue'>,
  workers: readonly string[],
  formerly: readonly string[],
): string | null {
  const account = namedAccount();
  const served = [...new Set(workers.flatMap((identity) => parseIdentity(identity)?.service ?? []))].sort();
  const all = served.filter((service) => isOfAccount(service, account));
  if (all.length === 0 && served.length > 0) {
    throw new BelayError(
      'Usage',
      `no worker of the task queue "${taskQueue}" serves the account "${account}" that BELAY_ACCOUNT names, ` +
        `only ${served.join(' and ')}: change or unset BELAY_ACCOUNT`,
    );
  }
  const current = all.filter((service) => !formerly.includes(service));
  const services = current.length === 0 ? all : current;
  if (services.length <= 1) return services[0] ?? null;
  const remedy = 'name one with --service, BELAY_SERVICE or service: in belay.yaml';
  throw new BelayError(
    'Usage',
    `the workers of the task queue "${taskQueue}" serve several services, ${services.join(' and ')}: ${remedy}`,
  );
}
