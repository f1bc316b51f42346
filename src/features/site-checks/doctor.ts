/**
 * Checks that this machine may reach the sites that have a check. It looks at their names and addresses, and sends no
 * request.
 */
import { readConfiguration } from '../../config/load.ts';
import { counted } from '../../contract/results.ts';
import { siteChecksOf } from './worker.ts';
import { judgedAddresses, systemResolve } from '../../site-check/index.ts';
import type { Check, Finding } from '../../cli/doctor-check.ts';

export const sitesCheck = (): Check => ({
  name: 'checks of sites',
  run: async (): Promise<Finding> => {
    const checks = [...siteChecksOf(await readConfiguration())];
    if (checks.length === 0) return { state: 'skipped', message: 'no site in belay.yaml has a check' };
    const found = await Promise.all(
      checks.map(async ([siteId, { request }]) => {
        const problem = await judgedAddresses(new URL(request.url), request.isPrivateSite, systemResolve).then(
          () => null,
          (error: Error) => error.message,
        );
        return problem === null ? [] : [`site ${siteId}: ${problem}`];
      }),
    );
    const problems = found.flat();
    if (problems.length === 0)
      return { state: 'ok', message: `${counted(checks.length, 'site has', 'sites have')} a check, and an address` };
    const remedy = 'correct url: below sites: in belay.yaml, and look it up where the workers run';
    return { state: 'warning', message: problems.join('; '), remedy };
  },
});
