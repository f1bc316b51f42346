/**
 * Checks that the hosting service answers and accepts the token. It reads a backup that does not exist, and starts
 * nothing.
 */
import { configuredService } from '../../config/configured-service.ts';
import { serviceConfig, type ServiceConfig } from '../../config/environment/environment.ts';
import { findServiceConfig } from '../../config/find-temporal.ts';
import { readConfiguration } from '../../config/load.ts';
import { PROBE_BACKUP_ID } from '../../contract/names.ts';
import { requireAll } from '../../config/policy.ts';
import { createNotifier } from '../notifications/worker.ts';
import { createHostingApiClient } from '../../hosting-api/index.ts';
import { HTTP_TIMEOUTS, probeService } from '../../worker/probe-service.ts';
import type { Check, Finding } from '../../cli/doctor-check.ts';
import { clockFinding } from './temporal.ts';

const NOT_CONFIGURED: Finding = {
  state: 'skipped',
  message: 'not checked, because the configuration is missing or invalid',
};

export function serviceChecks(): Check[] {
  let config: ServiceConfig | null = null;
  return [
    {
      name: 'configuration',
      run: async () => {
        config = await findServiceConfig();
        const isOfDev = config !== null && (await serviceConfig()) === null;
        const configuration = await readConfiguration();
        await requireAll(configuration);
        await createNotifier(configuration.notify);
        if (isOfDev)
          return {
            state: 'ok',
            message: `BELAY_API_URL is not set: the sandbox of \`belay dev\` is at ${config?.baseUrl}`,
          };
        if (config !== null) return configurationFinding(config);
        const remedy = 'set BELAY_API_URL, and BELAY_API_TOKEN or BELAY_API_TOKEN_FILE, where the worker runs';
        return { state: 'failed', message: 'BELAY_API_URL is not set', remedy };
      },
    },
    { name: 'service', run: async () => (config === null ? NOT_CONFIGURED : checkService(config)) },
    { name: "service's clock", run: async () => (config === null ? NOT_CONFIGURED : checkClock(config)) },
  ];
}

/** A starter holds no token and no secret of belay.yaml, so it needs no other configuration. */
export const starterCheck = (): Check => ({
  name: 'configuration',
  run: async () => {
    const { service } = await configuredService();
    const message = `enough to start runs for ${service ?? 'the service of the workers'}; add --for worker to check a worker`;
    return { state: 'ok', message };
  },
});

const clientOf = (config: ServiceConfig) => createHostingApiClient({ ...config, ...HTTP_TIMEOUTS });

/** A shorter token can be guessed, and occurs by chance in text that logs have to redact. */
const MIN_TOKEN_LENGTH = 8;

async function configurationFinding({ baseUrl, token }: ServiceConfig): Promise<Finding> {
  const message = `BELAY_API_URL is ${baseUrl}, and a token is set`;
  if ((await token()).length >= MIN_TOKEN_LENGTH) return { state: 'ok', message };
  const remedy = 'get a longer token from the service';
  return { state: 'warning', message: `${message}, but it has under ${MIN_TOKEN_LENGTH} characters`, remedy };
}

async function checkService(config: ServiceConfig): Promise<Finding> {
  const probe = await probeService(clientOf(config), config.baseUrl);
  if (probe.state === 'ok') return { state: 'ok', message: 'answers and accepts the token' };
  const remedy =
    probe.state === 'refused'
      ? 'get a new token from the service, and set it where the worker runs'
      : 'check BELAY_API_URL, its path included, and the network connection to it';
  return { state: 'failed', message: probe.message, remedy };
}

async function checkClock(config: ServiceConfig): Promise<Finding> {
  const askedMs = Date.now();
  const dateMs = await clientOf(config)
    .readTime(PROBE_BACKUP_ID)
    .catch(() => undefined);
  if (dateMs === undefined) return { state: 'skipped', message: 'the service does not answer' };
  if (dateMs === null) return { state: 'skipped', message: 'the service does not report its time' };
  // The header has whole seconds, so add half of one.
  return clockFinding('the service', dateMs + 500, askedMs);
}
