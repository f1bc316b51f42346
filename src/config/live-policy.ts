/**
 * Reads the policy again when belay.yaml changes. While the file has a mistake, the last good policy stays in force.
 */
import { stat } from 'node:fs/promises';
import { readConfiguration, type Configuration } from './load.ts';
import { configFile, type ConfigFile } from './environment/environment.ts';
import type { Logger } from '../process/log.ts';
import { policyOf, requireAll, type Policy } from './policy.ts';
import { messageOf } from '../contract/safe-text.ts';

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
}

/** @param first what the file said when the worker started */
export async function policyOfFile(
  first: Configuration,
  { log, onRead = () => undefined, file = configFile() }: LiveOptions,
): Promise<CurrentPolicy> {
  const { path } = file;
  let policy = policyOf(first);
  let version = await versionOf(path);
  let reading: Promise<void> | null = null;

  async function readAgain(): Promise<void> {
    const found = await versionOf(path);
    if (found === version) return;
    version = found;
    try {
      if (found === MISSING) throw new Error(`${path} is missing`);
      const configuration = await readConfiguration(file);
      await requireAll(configuration);
      policy = policyOf(configuration);
      log.info({ policy: policy.hash }, 'belay.yaml changed: its freezes and windows are in force now');
      onRead(true);
    } catch (error) {
      policy = { ...policy, isLatest: false };
      const reason = messageOf(error);
      log.error({ policy: policy.hash }, `the policy stays as it was, because belay.yaml cannot be used: ${reason}`);
      onRead(false);
    }
  }

  return async () => {
    reading ??= readAgain().finally(() => (reading = null));
    await reading;
    return policy;
  };
}

const MISSING = 'missing';

/** Changes when the file does, also when a symbolic link in its path points elsewhere. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found === null ? MISSING : [found.ino, found.size, found.mtimeMs].join(':');
}
