/**
 * Reads the policy again when belay.yaml changes. While the file has a mistake, is missing, or was emptied, the last good
 * policy stays in force.
 */
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { atItsLine, readConfiguration, type Configuration } from './load.ts';
import { configFile, type ConfigFile } from './environment/environment.ts';
import type { Logger } from '../process/log.ts';
import { policyOf, requireAll, type Policy } from './policy.ts';
import { messageOf } from '../contract/safe-text.ts';
import { TIMING } from '../contract/timing.ts';

/** The policy in force now. */
export type CurrentPolicy = () => Promise<Policy>;

export function fixedPolicy(configuration: Configuration): CurrentPolicy {
  const policy = policyOf(configuration);
  return () => Promise.resolve(policy);
}

interface LiveOptions {
  log: Logger;
  /** Called after each change of the file. */
  onRead?: (isGood: boolean) => void;
  file?: ConfigFile;
  clockMs?: () => number;
  wait?: (ms: number) => Promise<unknown>;
}

const REMEDY = 'restore it, so that this user can read it';
const EMPTIED = 'is empty, as a full disk leaves it: restore it, or write a comment into it if no setting is to hold';

const hasSettings = (configuration: Configuration): boolean => Object.keys(configuration).length > 0;

/** @param first what the file said when the worker started */
export async function policyOfFile(
  first: Configuration,
  { log, onRead = () => undefined, file = configFile(), clockMs = () => performance.now(), wait = sleep }: LiveOptions,
): Promise<CurrentPolicy> {
  const { path } = file;
  let [configuration, policy] = [first, policyOf(first)];
  // The file may have changed since the worker started, so it is read once more.
  let version: string | null = (await versionOf(path)) === MISSING ? MISSING : null;
  let problem: { reason: string; version: string; sinceMs: number } | null = null;
  let reading: Promise<void> | null = null;

  async function readAgain(): Promise<void> {
    const found = await versionOf(path);
    if (found === version && problem === null) return;
    // A version that failed is read again now and then, because the cause may be a file that it names, or the disk. It is
    // not read each time, because reading a large file takes long.
    if (found === problem?.version && clockMs() - problem.sinceMs < TIMING.worker.policyRetryMs) return;
    // A program may be writing the file in place. Each part of it may be valid, and lack what stands at the end.
    if (version !== null) await wait(TIMING.worker.policySettleMs);
    const next = await readUsable().catch((error: unknown) => ({ error }));
    if ((await versionOf(path)) !== found) return;
    if ('error' in next) keep(messageOf(await atItsLine(next.error, file)), found);
    else take(next, found);
  }

  /** @throws for a file that must not replace the policy in force */
  async function readUsable() {
    const next = await readConfiguration({ path, isNamed: version !== MISSING }, REMEDY);
    const isEmptied = hasSettings(configuration) && !hasSettings(next) && (await readFile(path, 'utf8')).trim() === '';
    if (isEmptied) throw new Error(`${path} ${EMPTIED}`);
    await requireAll(next);
    return { configuration: next, policy: policyOf(next) };
  }

  function take(next: { configuration: Configuration; policy: Policy }, found: string): void {
    const isOther = problem !== null || appliedText(next.configuration) !== appliedText(configuration);
    const late = READ_AT_START.filter((key) => atStart(next.configuration, key) !== atStart(first, key));
    const isNews = version !== null || isOther || late.length > 0;
    ({ configuration, policy } = next);
    [version, problem] = [found, null];
    if (!isNews) return;
    if (isOther) log.info({ policy: policy.hash }, 'belay.yaml changed: its policy is in force now');
    if (late.length > 0) log.warn(`belay.yaml changed: restart this worker to apply ${late.join(', ')}`);
    onRead(true);
  }

  function keep(reason: string, found: string): void {
    const isNews = reason !== problem?.reason || found !== problem.version;
    policy = { ...policy, isLatest: false };
    problem = { reason, version: found, sinceMs: clockMs() };
    if (!isNews) return;
    log.error({ policy: policy.hash }, `the policy stays as it was, because belay.yaml cannot be used: ${reason}`);
    onRead(false);
  }

  return async () => {
    reading ??= readAgain().finally(() => (reading = null));
    await reading;
    return policy;
  };
}

const READ_AT_START: readonly (keyof Configuration)[] = ['api', 'statuses', 'deploymentId', 'notify', 'formerly'];

/** Where a report goes is policy, so its `for` is none of what a worker reads at its start. */
const atStart = (configuration: Configuration, key: keyof Configuration): string =>
  JSON.stringify(configuration[key] ?? null, (name, value: unknown) => (name === 'for' ? undefined : value));

function appliedText(configuration: Configuration): string {
  const applied = Object.entries(configuration).filter(([key]) => !READ_AT_START.some((it) => it === key));
  const reported = Object.values(configuration.notify?.reports ?? {}).map((it) => it.for ?? null);
  // The servers of a fleet are a map, which JSON would leave empty.
  return JSON.stringify([applied, reported], (_, value: unknown) => (value instanceof Map ? [...value] : value));
}

const MISSING = 'missing';

/** Changes when the file does, and when a symbolic link in its path points elsewhere. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? MISSING : [found.ino, found.size, found.mtimeMs].join(':');
}
