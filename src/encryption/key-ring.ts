/** The keys in force. The key file is read again while it is in use, so that rotating a key needs no restart. */
import type { KeyObject } from 'node:crypto';
import { ConfigError } from '../config/environment/config-error.ts';
import { permissionProblem, readKeyFile, type KeyFile, type NamedKey } from './key-file.ts';

export interface KeyRing {
  readonly path: string;
  /** The key that encrypts now. */
  current(): NamedKey;
  /** Undefined if the file lacks it, even now. */
  find(id: string): KeyObject | undefined;
}

export interface KeyRingOptions {
  path: string;
  /** Reports a mistake in a changed file, or too wide permissions. */
  warn: (message: string) => void;
  nowMs?: () => number;
}

/** A look at the file costs microseconds, but payloads come by the thousand. */
const LOOK_AGAIN_MS = 1_000;

/** @throws ConfigError for a mistake in the file. Later mistakes leave the last good keys in force. */
export function createKeyRing({ path, warn, nowMs = () => performance.now() }: KeyRingOptions): KeyRing {
  let inForce = readKeyFile(path);
  let lookedAtMs = nowMs();
  let problem: string | null = null;
  const open = permissionProblem(path);
  if (open !== null) warn(open);

  function look(): void {
    lookedAtMs = nowMs();
    const before = problem;
    problem = null;
    try {
      inForce = withoutReuse(path, inForce, readKeyFile(path));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problem = `${error.message}; the keys read before stay in force`;
      if (problem !== before) warn(problem);
    }
  }

  const lookIfDue = () => void (nowMs() - lookedAtMs >= LOOK_AGAIN_MS && look());

  return {
    path,
    current() {
      lookIfDue();
      return inForce.current;
    },
    find(id) {
      lookIfDue();
      // Another process may use a key that was added a moment ago.
      if (!inForce.keys.has(id)) look();
      return inForce.keys.get(id);
    },
  };
}

/** What the old bytes encrypted would be lost. @throws ConfigError */
function withoutReuse(path: string, before: KeyFile, after: KeyFile): KeyFile {
  for (const [id, key] of after.keys) {
    const old = before.keys.get(id);
    if (old === undefined || old.equals(key)) continue;
    const remedy = 'restore them, and give the new key an id of its own';
    throw new ConfigError(`BELAY_CODEC_KEYS_FILE: ${path}: the key "${id}" has other bytes than before: ${remedy}`);
  }
  return after;
}
