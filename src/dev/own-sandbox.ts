/** The sandbox of a stack on one machine. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceConfig } from '../config/environment/environment.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/server.ts';

export interface OwnSandbox {
  sandbox: Sandbox;
  config: ServiceConfig;
}

/**
 * Locks and schedules belong to a service, by its address. So a sandbox whose Temporal keeps its data keeps its port, if
 * that is still free.
 * @param folder where Temporal's data is; null if it keeps none
 */
export async function startOwnSandbox(options: Partial<SandboxOptions>, folder: string | null): Promise<OwnSandbox> {
  const token = randomBytes(16).toString('hex');
  const start = (port: number) => startSandbox({ token, ...options, port });
  const file = folder === null ? null : join(folder, 'sandbox-port');
  const last = file === null ? 0 : await lastPort(file);
  const sandbox = await (last === 0 ? start(0) : start(last).catch(() => start(0)));
  if (file !== null) await writeFile(file, new URL(sandbox.url).port);
  return { sandbox, config: { baseUrl: sandbox.url, token: () => Promise.resolve(token) } };
}

/** 0 if there is none. */
async function lastPort(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^\d{1,5}$/.test(text) && Number(text) < 65_536 ? Number(text) : 0;
}
