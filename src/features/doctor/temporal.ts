/** Checks that Temporal answers, and that its namespace is set up for Belay. */
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import type { ConnectionLike } from '@temporalio/client';
import { whyUnreachable } from '../../client/transport/why-unreachable.ts';
import { isWithheld, createCommand, findAttributes, registerSearchAttributes } from '../../worker/search-attributes.ts';
import { isTemporalCloud, dayOf, type Credentials } from '../../config/credentials.ts';
import { TIMING } from '../../contract/timing.ts';
import { DAY_MS, clockDifference } from '../../contract/duration.ts';
import { messageOf, shellWord } from '../../contract/safe-text.ts';
import { isMissingNamespace } from '../../client/transport/grpc-errors.ts';
import { counted } from '../../contract/results.ts';
import { ORIGIN_TEXTS, type TemporalEndpoint } from '../../config/find-temporal.ts';
import { WITHOUT_TEMPORAL, type NamespaceConnection, type Check, type Finding } from '../../cli/doctor-check.ts';
import { serverTimeMs } from '../../client/server-time.ts';
import { searchAttributeMode } from '../../config/environment/environment.ts';

/**
 * Temporal recognizes a duplicate delivery by the workflow of the first one, and senders retry for more than three
 * days.
 */
const MIN_RETENTION_DAYS = 4;
const FIXED_RETENTION_DAYS = 30;

/** @param reach connects once; rejects if Temporal does not answer */
export function temporalChecks(endpoint: TemporalEndpoint, reach: () => Promise<Reached>): Check[] {
  const check = (name: string, inspect: (place: NamespaceConnection) => Promise<Finding>): Check => ({
    name,
    run: async () => {
      const place = await reach().catch(() => null);
      return place === null ? WITHOUT_TEMPORAL : inspect(place);
    },
  });
  return [
    ...credentialChecks(endpoint),
    { name: 'Temporal', run: () => checkServer(endpoint, reach) },
    check('namespace', (place) => checkNamespace(place, endpoint)),
    check('search attributes', (place) => checkAttributes(place, endpoint)),
    check("Temporal's clock", checkClock),
  ];
}

type Reached = NamespaceConnection & { serverVersion: string };

/** Makes a call, because a connection that is not ready in time does not say why. */
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
  // Temporal Cloud sets the retention through another API.
  return isCloud ? finding : { ...finding, fix: () => fixRetention(connection, namespace, command) };
}

async function fixRetention(connection: ConnectionLike, namespace: string, command: string): Promise<string> {
  const workflowExecutionRetentionTtl = msToTs(`${FIXED_RETENTION_DAYS} days`);
  try {
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
  } catch (error) {
    if (!isWithheld(error)) throw error;
    throw new Error(`the retention of ${namespace} is not yours to set: ask its administrator to run \`${command}\``);
  }
  return `now ${FIXED_RETENTION_DAYS} days`;
}

/* Checks that the credentials for Temporal can be used, and for how long. */

/** The alert BelayCertificateExpires uses the same number. */
const WARN_DAYS = 21;

function credentialChecks({ credentials }: Pick<TemporalEndpoint, 'credentials'>): Check[] {
  return credentials === null
    ? []
    : [{ name: "Temporal's credentials", run: async () => credentialsFinding(credentials) }];
}

/** @throws ConfigError */
function credentialsFinding(credentials: Credentials): Finding {
  const { connectionOptions, certificateEndMs } = credentials.read();
  const key = connectionOptions.apiKey === undefined ? [] : ['an API key'];
  if (certificateEndMs === null) return { state: 'ok', message: key[0] ?? 'none, over TLS' };
  const days = Math.floor((certificateEndMs - Date.now()) / DAY_MS);
  const until = `a client certificate until ${dayOf(certificateEndMs)}, ${counted(days, 'day')} from now`;
  const message = [...key, until].join(', and ');
  if (days >= WARN_DAYS) return { state: 'ok', message };
  const remedy = 'put a new certificate and its key in their files: no program needs a restart';
  return { state: 'warning', message, remedy };
}

/* Checks that the namespace has Belay's search attributes, unless they are off. */

const WITHOUT = '`belay list` cannot filter, `belay approvals` cannot list, and the Temporal UI cannot search';

async function checkAttributes(
  { connection, namespace }: NamespaceConnection,
  { connectionOptions: { address } }: TemporalEndpoint,
): Promise<Finding> {
  const mode = searchAttributeMode();
  if (mode === 'off') return { state: 'ok', message: `off (BELAY_SEARCH_ATTRIBUTES); ${WITHOUT}` };
  const place = { namespace, address };
  const { missing, mayList } = await findAttributes(connection, namespace);
  if (missing.length === 0) return { state: 'ok', message: mayList ? 'all registered' : 'all there, by a search' };
  const command = `run \`${createCommand(missing, place)}\``;
  if (mode === 'assume') {
    const message = `BELAY_SEARCH_ATTRIBUTES=assume, but the namespace lacks ${missing.join(', ')}: runs would stand still`;
    return { state: 'failed', message, remedy: `${command}, or set it to register` };
  }
  const message = `not registered: ${missing.join(', ')}; ${WITHOUT}`;
  if (!mayList) {
    return { state: 'warning', message, remedy: `${command}, then restart the workers` };
  }
  return {
    state: 'warning',
    message,
    remedy: 'start a worker whose credentials may register them',
    async fix() {
      const problem = await registerSearchAttributes(connection, place);
      if (problem === null) return 'registered';
      throw new Error([problem.message, problem.remedy].filter((it) => it !== null).join(': '));
    },
  };
}

/** A Temporal that is too slow to tell its time, or does not allow this client to ask, is no failure. */
async function checkClock({ connection, namespace }: NamespaceConnection): Promise<Finding> {
  const read = await serverTimeMs(connection, namespace).catch((error: unknown) => {
    if (isMissingNamespace(error)) throw error;
    return messageOf(error);
  });
  return typeof read === 'string' ? { state: 'skipped', message: read } : clockFinding('Temporal', read);
}

/**
 * The other side read its clock at some time between the question and now. This assumes the moment at which the clocks
 * differ least, because an answer that took long says nothing about a clock.
 *
 * @param askedMs when the question was sent
 */
export function clockFinding(whose: string, theirMs: number, askedMs = Date.now()): Finding {
  const aheadMs = Math.min(Math.max(theirMs, askedMs), Date.now()) - theirMs;
  const message = clockDifference(whose, aheadMs);
  if (Math.abs(aheadMs) <= TIMING.doctor.clockToleranceMs) return { state: 'ok', message };
  return {
    state: 'warning',
    message,
    remedy: 'synchronize the clocks with NTP: the times in logs and lists differ from those of runs',
  };
}
