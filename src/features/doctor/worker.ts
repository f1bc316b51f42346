/** Checks the workers that poll the task queue: whether they answer, and agree on the policy and on encryption. */
import { existsSync } from 'node:fs';
import proto from '@temporalio/proto';
import { Client, type ConnectionLike } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  NO_WORKER_REMEDY,
  seenOn,
  problemOfWorkers,
  pollerIdentities,
  requireSameEncryption,
} from '../../client/workers.ts';
import { type QueuePoller, type QueueState, pollersOf } from '../../client/pollers.ts';
import { findUnserved } from '../../client/runs/run-contact.ts';
import {
  moveRuns,
  versionText,
  parseIdentity,
  parsePolicyNotice,
  policyQueue,
  type PolicyNotice,
} from '../../contract/worker-identity.ts';
import { counted } from '../../contract/results.ts';
import { WITHOUT_TEMPORAL, type NamespaceConnection, type Check, type Finding } from '../../cli/doctor-check.ts';
import { acceptsPlainPayloads, configFile } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { policyOf, RULES } from '../../config/policy.ts';
import { given } from '../../config/environment/variables.ts';
import { permissionProblem, readKeyFile } from '../../encryption/key-ring.ts';
import { TIMING } from '../../contract/timing.ts';
import { QUERIES } from '../../contract/names.ts';
import { ASKS_AGAIN } from '../../client/ask-again.ts';
import { configuredService } from '../../config/configured-service.ts';
import { isServed } from '../../contract/service-identity.ts';
import { firstListed, RUNNING, runsAndRolloutsOn } from '../../client/list-filter.ts';
import type { Session } from '../../client/session.ts';
import { codeOf, GRPC, grpcCause } from '../../client/transport/grpc-errors.ts';

/** Finds the workers of the queue. Null if Temporal does not answer. */
type Look = () => Promise<(NamespaceConnection & { seen: QueueState }) | null>;

/** The checks share one question to Temporal. */
export function workerChecks(reach: () => Promise<NamespaceConnection>, taskQueue: string): Check[] {
  let asked: ReturnType<Look> | undefined;
  const look: Look = () => (asked ??= lookAt(reach, taskQueue));
  return [workerCheck(look, taskQueue), encryptionCheck(look, taskQueue), policyCheck(look, taskQueue)];
}

async function lookAt(reach: () => Promise<NamespaceConnection>, taskQueue: string): ReturnType<Look> {
  const place = await reach().catch(() => null);
  return place === null ? null : { ...place, seen: await seenOn(place.connection, place.namespace, taskQueue) };
}

const workerCheck = (look: Look, taskQueue: string): Check => ({
  name: 'worker',
  run: async () => {
    const looked = await look();
    if (looked === null) return WITHOUT_TEMPORAL;
    const { connection, namespace, seen } = looked;
    const problem = problemOfWorkers(seen, taskQueue);
    if (problem !== null) return { state: 'failed', ...problem };
    const unserved = await findUnserved(connection, { namespace, taskQueue }, seen).catch(() => null);
    if (unserved !== null) {
      const { count, version } = unserved;
      const message = `${counted(count, 'workflow waits', 'workflows wait')} for workers of another build, such as ${versionText(version)}`;
      return { state: 'failed', message, remedy: `start such a worker, or move them: \`${moveRuns(version)}\`` };
    }
    const workers = seen.pollers.map(describe).join('; ');
    const silentRun = await findSilentRun(connection, { namespace, taskQueue }).catch(() => null);
    if (silentRun === null) return (await otherService(seen)) ?? { state: 'ok', message: workers };
    const message = `no worker answers for ${silentRun}, although one polled in the last minute or so: ${workers}`;
    return { state: 'failed', message, remedy: NO_WORKER_REMEDY };
  },
});

/** Warns if this machine names a service that no worker serves. */
async function otherService(seen: QueueState): Promise<Finding | null> {
  const { service, formerly } = await configuredService();
  const served = pollerIdentities(seen).flatMap((identity) => parseIdentity(identity)?.service ?? []);
  if (service === null || served.length === 0 || served.some((it) => isServed(it, { service, formerly }))) return null;
  return {
    state: 'warning',
    message: `the workers serve ${[...new Set(served)].join(' and ')}, but runs from here are for ${service}`,
    remedy:
      'correct BELAY_SERVICE or service: in belay.yaml, or start a worker for that service: without one, the runs end ' +
      "not_started, unless formerly: in the workers' belay.yaml names it",
  };
}

function describe({ identity, version }: QueuePoller): string {
  const worker = parseIdentity(identity);
  if (worker === null) return `${identity}, which is not a worker of Belay`;
  const build = version === null ? '' : `, build ${versionText(version)}`;
  return `${worker.version}${build} at ${worker.where} for ${worker.service} since ${worker.since}`;
}

/* Checks that all workers of the queue apply the same policy, and that none is stuck with an earlier one. */

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

const policyCheck = (look: Look, taskQueue: string): Check => ({
  name: 'policy',
  run: async (): Promise<Finding> => {
    const looked = await look();
    if (looked === null) return WITHOUT_TEMPORAL;
    const { connection, namespace, seen } = looked;
    const place = { namespace, taskQueue: policyQueue(taskQueue), type: TASK_QUEUE_TYPE_ACTIVITY };
    const reported = (await pollersOf(connection.workflowService, place)).toSorted((a, b) => b.polledMs - a.polledMs);
    const notices = reported.flatMap(({ identity }) => parsePolicyNotice(identity) ?? []);
    // Only the newest notice of each worker counts.
    return policyFinding(
      pollerIdentities(seen).flatMap((worker) => notices.find((it) => it.worker === worker) ?? []),
      await policyHere(),
    );
  },
});

/** @param here the policy of this machine's belay.yaml. Null if it has none */
export function policyFinding(notices: readonly PolicyNotice[], here: string | null = null): Finding {
  const outdated = notices.filter(({ isLatest }) => !isLatest);
  if (outdated.length > 0) {
    const who = outdated.map(({ worker }) => placeOf(worker)).join(', ');
    const message = `an earlier policy stays in force at ${who}, because belay.yaml cannot be used there`;
    return { state: 'warning', message, remedy: 'correct the file: the log of the worker names the mistake' };
  }
  const hashes = [...new Set(notices.map(({ hash }) => hash))];
  if (hashes.length === 0) return { state: 'skipped', message: 'no worker reports its policy' };
  if (hashes.length === 1 && here !== null && here !== hashes[0]) {
    const message = `this machine's belay.yaml has another policy than the workers': ${here} here, ${hashes[0]} there`;
    const remedy =
      'give both the same file: commands and dry runs here judge by the one of this machine; workers report a file that ' +
      'has just changed within two minutes';
    return { state: 'warning', message, remedy };
  }
  if (hashes.length === 1) return { state: 'ok', message: `${hashes[0]} at every worker` };
  const groups = hashes.map((hash) => {
    const workers = notices.filter((it) => it.hash === hash);
    return `${hash} at ${workers.map(({ worker }) => placeOf(worker)).join(', ')}`;
  });
  const remedy = `give these sections of belay.yaml the same content at all workers: fleets, inventory, ${RULES.join(', ')}`;
  return { state: 'warning', message: `the workers differ: ${groups.join('; ')}`, remedy };
}

/** Null without a file, and for one that another check refuses. */
async function policyHere(): Promise<string | null> {
  if (!existsSync(configFile().path)) return null;
  const configuration = await readConfiguration().catch(() => null);
  return configuration === null ? null : policyOf(configuration).hash;
}

const placeOf = (worker: string): string => parseIdentity(worker)?.where ?? worker;

/* Checks the key file, and that this program and the workers agree on encryption. */

function encryptionCheck(look: Look, taskQueue: string): Check {
  return {
    name: 'encryption',
    run: async () => {
      const path = given('BELAY_CODEC_KEYS_FILE');
      const finding = path === null ? PLAIN : keysFinding(path);
      const looked = await look();
      const workers = looked === null ? [] : pollerIdentities(looked.seen);
      requireSameEncryption({ encrypts: path !== null, taskQueue }, workers);
      return finding;
    },
  };
}

const PLAIN: Finding = { state: 'ok', message: 'off; Temporal stores inputs, results and errors as plain text' };

/** @throws ConfigError */
function keysFinding(path: string): Finding {
  const { current, keys } = readKeyFile(path);
  const message = `encrypts with the key "${current.id}", and decrypts with ${keys.size === 1 ? 'it' : `${keys.size} keys`}`;
  const open = permissionProblem(path);
  if (open !== null) return { state: 'warning', message: `${message}, but ${open}` };
  if (!acceptsPlainPayloads()) return { state: 'ok', message };
  const remedy = 'unset BELAY_CODEC_ACCEPT_PLAIN once Temporal keeps no workflow from before encryption';
  return { state: 'warning', message: `${message}; plain payloads are accepted`, remedy };
}

/* Finds a run that no worker answers for. Temporal lists a killed worker for about another minute. */

const MOST_ASKED = 3;

/** Whether a worker answers does not depend on what, and whether that is encrypted. */
const UNREAD = {
  payloadCodecs: [
    {
      encode: (payloads: Payload[]) => Promise.resolve(payloads),
      decode: (payloads: Payload[]) => Promise.resolve(payloads.map(() => defaultPayloadConverter.toPayload(null))),
    },
  ],
};

/**
 * Queries the newest runs in flight, as `status` does.
 *
 * @returns the id of one of them if no worker answers for any, else null
 */
async function findSilentRun(
  connection: ConnectionLike,
  { namespace, taskQueue }: Pick<Session, 'namespace' | 'taskQueue'>,
): Promise<string | null> {
  const client = new Client({ connection, namespace, dataConverter: UNREAD, interceptors: ASKS_AGAIN });
  const asked = await firstListed(client, `${runsAndRolloutsOn(taskQueue)} AND ${RUNNING}`, MOST_ASKED);
  const answered = await Promise.all(
    asked.map(({ workflowId, runId }) =>
      client
        .withDeadline(Date.now() + TIMING.client.queryMs, () =>
          client.workflow.getHandle(workflowId, runId).query(QUERIES.progress),
        )
        .then(
          () => true,
          // Temporal answers so if a worker keeps failing at this run, so there is a worker.
          (error: unknown) => codeOf(grpcCause(error)) === GRPC.failedPrecondition,
        ),
    ),
  );
  return answered.includes(true) ? null : (asked[0]?.workflowId ?? null);
}
