/** The keys in force. The key file is read again while it is in use, so that rotating a key needs no restart. */
import { type KeyObject, createSecretKey } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { ConfigError } from '../config/environment/variables.ts';
import { isRecord, parsedJson } from '../contract/plain-object.ts';
import { plainText } from '../contract/safe-text.ts';

export type KeyRing = ReturnType<typeof createKeyRing>;

interface KeyRingOptions {
  path: string;
  /** Reports a mistake in a changed file, or too wide permissions. */
  warn: (message: string) => void;
  nowMs?: () => number;
}

/** A look at the file takes microseconds, but payloads come by the thousand. */
const LOOK_AGAIN_MS = 1_000;

/** @throws ConfigError for a mistake in the file. Later mistakes leave the last good keys in force. */
export function createKeyRing({ path, warn, nowMs = () => performance.now() }: KeyRingOptions) {
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

  const lookIfDue = () => {
    if (nowMs() - lookedAtMs >= LOOK_AGAIN_MS) look();
  };

  return {
    path,
    current(): NamedKey {
      lookIfDue();
      return inForce.current;
    },
    /** Undefined if the file lacks the key, even after another look. */
    find(id: string): KeyObject | undefined {
      lookIfDue();
      // Another process may use a key that was added a moment ago.
      if (!inForce.keys.has(id)) look();
      return inForce.keys.get(id);
    },
  };
}

/** A reused id would lose everything that the old bytes encrypted. @throws ConfigError */
function withoutReuse(path: string, before: KeyFile, after: KeyFile): KeyFile {
  for (const [id, key] of after.keys) {
    const old = before.keys.get(id);
    if (old === undefined || old.equals(key)) continue;
    const remedy = 'restore them, and give the new key an id of its own';
    throw new ConfigError(`BELAY_CODEC_KEYS_FILE: ${path}: the key "${id}" has other bytes than before: ${remedy}`);
  }
  return after;
}

/* The key file: `{"current":"2026-11","keys":{"2026-11":"<base64 of 32 bytes>"}}`. Errors never repeat a key. */

interface NamedKey {
  id: string;
  key: KeyObject;
}

interface KeyFile {
  current: NamedKey;
  keys: ReadonlyMap<string, KeyObject>;
}

const KEY_BYTES = 32;
const KEY_ID = /^[\w.-]{1,64}$/;
const FORM = '{"current": ID, "keys": {ID: base64 of 32 bytes}}';
const NEW_KEY = 'create one with `openssl rand -base64 32`';

/** @throws ConfigError */
export function readKeyFile(path: string): KeyFile {
  const refuse = (problem: string) => new ConfigError(`BELAY_CODEC_KEYS_FILE: ${path}${problem}`);
  const content = parsedJson(textOf(path, refuse));
  // A parser's message would repeat a part of the text.
  if (content === undefined) throw refuse(` is not JSON: write ${FORM}`);
  if (!isRecord(content)) throw refuse(`: write ${FORM}`);
  const { current, keys: listed, ...others } = content;
  const [other] = Object.keys(others);
  if (other !== undefined) throw refuse(`: "${plainText(other, 64)}" is not known: write only ${FORM}`);
  if (!isRecord(listed)) throw refuse(`: keys is missing: write ${FORM}`);
  const keys = new Map(Object.entries(listed).map(([id, text]) => [id, keyFrom(id, text, refuse)]));
  if (typeof current !== 'string') throw refuse(`: current is missing: name the key that encrypts`);
  const key = keys.get(current);
  if (key === undefined) {
    throw refuse(`: current names the key "${plainText(current, 64)}", which keys lacks: add it, or name another one`);
  }
  return { current: { id: current, key }, keys };
}

type Refuse = (problem: string) => ConfigError;

function textOf(path: string, refuse: Refuse): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw refuse(` cannot be read (${code}): give the path of a key file that this user may read`);
  }
}

function keyFrom(id: string, text: unknown, refuse: Refuse): KeyObject {
  if (!KEY_ID.test(id)) {
    throw refuse(
      `: "${plainText(id, 64)}" is not a key id: use up to 64 letters, digits, dots, hyphens or underscores`,
    );
  }
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw refuse(`: the key "${id}" is not the base64 of ${KEY_BYTES} bytes: ${NEW_KEY}`);
  }
  return createSecretKey(bytes);
}

/** @returns what is wrong with the permissions of the file, or null */
export function permissionProblem(path: string): string | null {
  if (process.platform === 'win32') return null;
  const { mode } = statSync(path);
  if ((mode & 0o007) === 0) return null;
  return `every user of this machine can read ${path} (BELAY_CODEC_KEYS_FILE): run \`chmod 600\` on it`;
}
