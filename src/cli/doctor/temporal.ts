/** Checks that Temporal answers, and that its namespace is set up for Belay. */
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { whyUnreachable } from '../../worker/why-unreachable.ts';
import { missingAttributes, registerSearchAttributes } from '../../worker/search-attributes.ts';
import { ORIGIN_TEXTS, type TemporalEndpoint } from '../../config/temporal/find-temporal.ts';
import type { NamespaceConnection, Check, Finding } from './check.ts';
import { serverTimeMs } from '../../client/connection/server-time.ts';
import { clockFinding } from './clock.ts';
import { credentialChecks } from './credentials.ts';

/** A duplicate webhook delivery is recognized by its workflow, and senders retry for more than three days. */
const MIN_RETENTION_DAYS = 4;
const FIXED_RETENTION_DAYS = 30;
const DAY_MS = 24 * 3_600_000;

/** @param reach connects once; rejects if Temporal does not answer */
export function temporalChecks(endpoint: TemporalEndpoint, reach: () => Promise<NamespaceConnection>): Check[] {
  const check = (name: string, inspect: (place: NamespaceConnection) => Promise<Finding>): Check => ({
    name,
    run: async () => {
      const place = await reach().catch(() => null);
      return place === null ? { state: 'skipped', message: 'Temporal does not answer' } : inspect(place);
    },
  });
  return [
    ...credentialChecks(endpoint),
    { name: 'Temporal', run: () => checkServer(endpoint, reach) },
    check('namespace', checkNamespace),
    check('search attributes', checkAttributes),
    check("Temporal's clock", async (place) =>
      clockFinding('Temporal', await serverTimeMs(place.connection, place.namespace)),
    ),
  ];
}

async function checkServer(
  { connectionOptions: { address }, origin }: TemporalEndpoint,
  reach: () => Promise<NamespaceConnection>,
): Promise<Finding> {
  const where = `${address} (${ORIGIN_TEXTS[origin]})`;
  try {
    const { connection } = await reach();
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { state: 'ok', message: `${where} answers, server version ${serverVersion}` };
  } catch (error) {
    const { problem, remedy } = whyUnreachable(error);
    return { state: 'failed', message: `${where} ${problem}`, remedy };
  }
}

async function checkNamespace({ connection, namespace }: NamespaceConnection): Promise<Finding> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const days = tsToMs(config?.workflowExecutionRetentionTtl) / DAY_MS;
  const message = `${namespace} keeps closed runs for ${days} ${days === 1 ? 'day' : 'days'}`;
  if (days >= MIN_RETENTION_DAYS) return { state: 'ok', message };
  const command = `temporal operator namespace update -n ${namespace} --retention ${FIXED_RETENTION_DAYS}d`;
  return {
    state: 'warning',
    message: `${message}; keys, results and duplicate webhooks need at least ${MIN_RETENTION_DAYS} days`,
    remedy: `run \`${command}\``,
    async fix() {
      const workflowExecutionRetentionTtl = msToTs(`${FIXED_RETENTION_DAYS} days`);
      await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
      return `now ${FIXED_RETENTION_DAYS} days`;
    },
  };
}

async function checkAttributes({ connection, namespace }: NamespaceConnection): Promise<Finding> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return { state: 'ok', message: 'all registered' };
  return {
    state: 'warning',
    message: `not registered: ${missing.join(', ')}; \`belay list\` cannot filter, and the Temporal UI cannot search`,
    remedy: 'start a worker whose credentials may register them',
    async fix() {
      const problem = await registerSearchAttributes(connection, namespace);
      if (problem !== null) throw new Error(problem);
      return 'registered';
    },
  };
}
