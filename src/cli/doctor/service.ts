/** The hosting service: is it there, and does it let us in? Asks for a backup nobody has; triggers nothing. */
import { serviceConfig, type ServiceConfig } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { createNotifier } from '../../activities/notifications/notifier.ts';
import { createServiceClient } from '../../hosting-api/index.ts';
import { probeService } from '../../worker/probe-service.ts';
import type { Check, Finding } from './check.ts';
import { clockFinding } from './clock.ts';

export function serviceChecks(): Check[] {
  let config: ServiceConfig | null = null;
  return [
    {
      name: 'configuration',
      look: async () => {
        config = await serviceConfig();
        const { notify } = await readConfiguration();
        await createNotifier(notify, (result) => result);
        if (config !== null)
          return { state: 'ok', message: `BELAY_API_URL is ${config.baseUrl}, and there is a token` };
        const remedy = 'set BELAY_API_URL, and BELAY_API_TOKEN or BELAY_API_TOKEN_FILE, where the worker runs';
        return { state: 'failed', message: 'BELAY_API_URL is not set', remedy };
      },
    },
    { name: 'service', look: () => (config === null ? skipped() : lookAtService(config)) },
    { name: "service's clock", look: () => (config === null ? skipped() : lookAtClock(config)) },
  ];
}

async function lookAtService(config: ServiceConfig): Promise<Finding> {
  const probe = await probeService(createServiceClient(config));
  if (probe.state === 'ok') return { state: 'ok', message: 'it answers, and accepts the token' };
  const remedy =
    probe.state === 'refused'
      ? 'get a new token from the service'
      : 'check BELAY_API_URL, and the way from here to there';
  return { state: 'failed', message: probe.message, remedy };
}

async function lookAtClock({ baseUrl }: ServiceConfig): Promise<Finding> {
  const response = await fetch(baseUrl, { redirect: 'manual', signal: AbortSignal.timeout(5_000) });
  await response.body?.cancel();
  const said = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(said)) return { state: 'skipped', message: 'it does not tell its time' };
  // The header has whole seconds.
  return clockFinding('the service', said + 500);
}

async function skipped(): Promise<Finding> {
  return { state: 'skipped', message: 'without a configuration it cannot be asked' };
}
