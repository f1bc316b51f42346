/** The record that a running `belay dev` keeps in its home folder: where its Temporal and its sandbox are. */
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from './environment/service-url.ts';

export interface DevServerRecord {
  pid: number;
  /** Null until it is ready. */
  temporal: string | null;
  ui: string | null;
  /** Its own sandbox, and the token of that. It never holds those of a real service. */
  sandbox?: { url: string; token: string };
}

export const recordFile = (home: string) => join(home, 'dev.json');

/**
 * A folder from elsewhere, such as a cloned repository, may hold a record that leads to a foreign server. So the file
 * must be this user's, and name a process and addresses of this machine.
 * @returns null if no `belay dev` of this user is running
 */
export function readDevServerRecord(home: string): DevServerRecord | null {
  try {
    const file = recordFile(home);
    return lstatSync(file).uid === (process.getuid?.() ?? 0) ? runningRecord(readFileSync(file, 'utf8')) : null;
  } catch {
    return null;
  }
}

/** @returns null if the text is not such a record, or if the process that wrote it is gone */
export function runningRecord(text: string): DevServerRecord | null {
  try {
    const record: unknown = JSON.parse(text);
    if (!isLocalRecord(record)) return null;
    process.kill(record.pid, 0);
    return record;
  } catch {
    return null;
  }
}

function isLocalRecord(value: unknown): value is DevServerRecord {
  const { pid, temporal, ui, sandbox } = (value ?? {}) as Partial<Record<keyof DevServerRecord, unknown>>;
  // Signal 0 to PID 0 or below reaches a process group, and so always succeeds.
  return (
    Number.isSafeInteger(pid) &&
    (pid as number) > 0 &&
    (temporal === null || isLocal('grpc', temporal)) &&
    (ui === null || isLocal('http', ui)) &&
    (sandbox === undefined || isLocalSandbox(sandbox))
  );
}

function isLocalSandbox(value: unknown): boolean {
  const { url, token } = (value ?? {}) as Record<string, unknown>;
  return isLocal('http', url) && typeof token === 'string';
}

function isLocal(scheme: 'grpc' | 'http', address: unknown): boolean {
  if (typeof address !== 'string') return false;
  const origin = scheme === 'grpc' ? `http://${address}` : address;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, port, pathname, username, search, hash } = new URL(origin);
  const isPlain = pathname === '/' && [username, search, hash].every((part) => part === '');
  return protocol === 'http:' && isLoopback(hostname) && port !== '' && isPlain;
}
