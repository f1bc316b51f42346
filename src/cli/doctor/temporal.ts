/** Temporal: is it there, and does its namespace keep and know what Belay needs? */
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import { whyUnreachable } from '../../worker/connect.ts';
import { missingAttributes, registerSearchAttributes } from '../../worker/search-attributes.ts';
import type { Check, Finding } from './check.ts';
import { clockFinding } from './clock.ts';
import type { Place } from './place.ts';
import { serverTimeMs } from '../../client/connection/server-time.ts';

/** A repeated webhook delivery is known by the run it started; senders repeat for more than three days. */
const MIN_RETENTION_DAYS = 4;
const FIXED_RETENTION_DAYS = 30;
const DAY_MS = 24 * 3_600_000;

/** @param reach connects, once; rejects where Temporal doesn't answer */
export function temporalChecks(address: string, reach: () => Promise<Place>): Check[] {
  const check = (name: string, look: (place: Place) => Promise<Finding>): Check => ({
    name,
    look: async () => {
      const place = await reach().catch(() => null);
      return place === null ? { state: 'skipped', message: 'Temporal does not answer' } : look(place);
    },
  });
  return [
    { name: 'Temporal', look: () => lookAtServer(address, reach) },
    check('namespace', lookAtNamespace),
    check('search attributes', lookAtAttributes),
    check("Temporal's clock", async (place) => clockFinding('Temporal', await serverTimeMs(place))),
  ];
}

async function lookAtServer(address: string, reach: () => Promise<Place>): Promise<Finding> {
  try {
    const { connection } = await reach();
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return { state: 'ok', message: `${address} answers, server ${serverVersion}` };
  } catch (error) {
    const remedy = 'start `belay dev`, or set TEMPORAL_ADDRESS to where Temporal is';
    return { state: 'failed', message: `${address} does not answer: ${whyUnreachable(error)}`, remedy };
  }
}

async function lookAtNamespace({ connection, namespace }: Place): Promise<Finding> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const days = tsToMs(config?.workflowExecutionRetentionTtl) / DAY_MS;
  const message = `${namespace} keeps closed runs for ${days} days`;
  if (days >= MIN_RETENTION_DAYS) return { state: 'ok', message };
  const command = `temporal operator namespace update -n ${namespace} --retention ${FIXED_RETENTION_DAYS}d`;
  return {
    state: 'attention',
    message: `${message}: keys, repeated events and results are forgotten after that, ${MIN_RETENTION_DAYS} are needed`,
    remedy: command,
    async fix() {
      const workflowExecutionRetentionTtl = msToTs(`${FIXED_RETENTION_DAYS} days`);
      await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
      return `now ${FIXED_RETENTION_DAYS} days`;
    },
  };
}

async function lookAtAttributes({ connection, namespace }: Place): Promise<Finding> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return { state: 'ok', message: 'all are registered' };
  return {
    state: 'attention',
    message: `${missing.join(', ')} not registered: \`belay list\` cannot filter, the UI cannot search`,
    remedy: 'start a worker that may register them',
    async fix() {
      const problem = await registerSearchAttributes(connection, namespace);
      if (problem !== null) throw new Error(problem);
      return 'registered';
    },
  };
}
