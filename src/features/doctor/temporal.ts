/** Checks that Temporal answers, and that its namespace is set up for Belay. */
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { whyUnreachable } from '../../worker/why-unreachable.ts';
import type { ConnectionLike } from '@temporalio/client';
import { isRefused } from '../../worker/search-attributes.ts';
import { isTemporalCloud } from '../../config/temporal-cloud.ts';
import { TIMING } from '../../contract/timing.ts';
import { DAY_MS } from '../../contract/duration.ts';
import { shellWord } from '../../contract/safe-text.ts';
import { counted } from '../../contract/tally-text.ts';
import { ORIGIN_TEXTS, type TemporalEndpoint } from '../../config/find-temporal.ts';
import type { NamespaceConnection, Check, Finding } from '../../cli/doctor-check.ts';
import { serverTimeMs } from '../../client/server-time.ts';
import { checkAttributes } from './search-attributes.ts';
import { clockFinding } from './clock.ts';
import { credentialChecks } from './credentials.ts';

/** A duplicate webhook delivery is recognized by its workflow, and senders retry for more than three days. */
const MIN_RETENTION_DAYS = 4;
const FIXED_RETENTION_DAYS = 30;

/** @param reach connects once; rejects if Temporal does not answer */
export function temporalChecks(endpoint: TemporalEndpoint, reach: () => Promise<Reached>): Check[] {
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
    check('namespace', (place) => checkNamespace(place, endpoint)),
    check('search attributes', (place) => checkAttributes(place, endpoint)),
    check("Temporal's clock", async (place) =>
      clockFinding('Temporal', await serverTimeMs(place.connection, place.namespace)),
    ),
  ];
}

type Reached = NamespaceConnection & { serverVersion: string };

/** A call, because a connection that is not ready in time does not say why. */
export function reachServer(connection: ConnectionLike, namespace: string): Promise<Reached> {
  return connection.withDeadline(Date.now() + TIMING.client.connectMs, async () => {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { connection, namespace, serverVersion };
  });
}

async function checkServer(
  { connectionOptions: { address }, origin }: TemporalEndpoint,
  reach: () => Promise<Reached>,
): Promise<Finding> {
  const where = `${address} (${ORIGIN_TEXTS[origin]})`;
  try {
    const { serverVersion } = await reach();
    return { state: 'ok', message: `${where} answers, server version ${serverVersion}` };
  } catch (error) {
    const { problem, remedy } = whyUnreachable(error);
    return { state: 'failed', message: `${where} ${problem}`, remedy };
  }
}

async function checkNamespace(
  { connection, namespace }: NamespaceConnection,
  { connectionOptions: { address } }: TemporalEndpoint,
): Promise<Finding> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const days = tsToMs(config?.workflowExecutionRetentionTtl) / DAY_MS;
  const message = `${namespace} keeps closed runs for ${counted(days, 'day')}`;
  if (days >= MIN_RETENTION_DAYS) return { state: 'ok', message };
  const isCloud = isTemporalCloud(address);
  const command = isCloud
    ? `tcld namespace retention set --namespace ${shellWord(namespace)} --retention-days ${FIXED_RETENTION_DAYS}`
    : `temporal operator namespace update -n ${shellWord(namespace)} --retention ${FIXED_RETENTION_DAYS}d`;
  const finding: Finding = {
    state: 'warning',
    message: `${message}; keys, results and duplicate webhooks need at least ${MIN_RETENTION_DAYS} days`,
    remedy: `run \`${command}\``,
  };
  // Temporal Cloud sets it through another API.
  return isCloud ? finding : { ...finding, fix: () => fixRetention(connection, namespace, command) };
}

async function fixRetention(connection: ConnectionLike, namespace: string, command: string): Promise<string> {
  const workflowExecutionRetentionTtl = msToTs(`${FIXED_RETENTION_DAYS} days`);
  try {
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new Error(`the retention of ${namespace} is not yours to set: ask its administrator to run \`${command}\``);
  }
  return `now ${FIXED_RETENTION_DAYS} days`;
}
