/**
 * Reads the policy again when belay.yaml changes. While the file has a mistake, the last good policy stays in force.
 */
import { stat } from 'node:fs/promises';
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
}

/** @param first what the file said when the worker started */
export async function policyOfFile(
  first: Configuration,
  { log, onRead = () => undefined, file = configFile(), clockMs = () => performance.now() }: LiveOptions,
): Promise<CurrentPolicy> {
  const { path } = file;
  let policy = policyOf(first);
  // The file may have changed since the worker started, so it is read once more.
  let version: string | null = (await versionOf(path)) === MISSING ? MISSING : null;
  let problem: { reason: string; version: string; sinceMs: number } | null = null;
  let reading: Promise<void> | null = null;

  async function readAgain(): Promise<void> {
    const found = await versionOf(path);
    if (found === version) return;
    // A version that failed is read again now and then, because the cause may be a file that it names, or the disk. It is
    // not read each time, because reading a large file takes long.
    if (found === problem?.version && clockMs() - problem.sinceMs < TIMING.worker.policyRetryMs) return;
    try {
      if (found === MISSING) throw new Error(`${path} is missing`);
      const configuration = await readConfiguration(file);
      await requireAll(configuration);
      take(policyOf(configuration), found);
    } catch (error) {
      keep(messageOf(await atItsLine(error, file)), found);
    }
  }

  function take(next: Policy, found: string): void {
    const isNews = version !== null || problem !== null || next.hash !== policy.hash;
    [policy, version, problem] = [next, found, null];
    if (!isNews) return;
    log.info({ policy: policy.hash }, 'belay.yaml changed: its policy is in force now');
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

const MISSING = 'missing';

/** Changes when the file does, and when a symbolic link in its path points elsewhere. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? MISSING : [found.ino, found.size, found.mtimeMs].join(':');
}
