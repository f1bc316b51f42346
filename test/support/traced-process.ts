/** Runs Node and records which files it loads and which asynchronous resources it makes, such as sockets. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './processes.ts';
import { tempFolder } from './temporal.ts';

export interface Trace {
  code: number | null;
  /** URLs. */
  files: string[];
  sockets: string[];
}

/** Handles and requests of the network. A pipe is not one: stdout is a pipe. */
const NETWORK = /^(TCP|UDP|TLS|HTTP|GETADDRINFO|GETNAMEINFO|QUERY|PIPECONNECT)/;

const PRELOAD = `
  import { createHook } from 'node:async_hooks';
  import { writeFileSync } from 'node:fs';
  const types = new Set();
  createHook({ init: (_id, type) => types.add(type) }).enable();
  process.on('exit', () => writeFileSync(process.env.TRACE_FILE, JSON.stringify([...types])));
`;

export async function traceProcess(args: string[], env: Record<string, string> = {}): Promise<Trace> {
  const folder = await tempFolder();
  const [coverage, resources] = [join(folder, 'coverage'), join(folder, 'resources.json')];
  const child = spawn(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(PRELOAD)}`, ...args], {
    env: { ...environment(env), NODE_V8_COVERAGE: coverage, TRACE_FILE: resources },
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const types = JSON.parse(readFileSync(resources, 'utf8')) as string[];
  return {
    code,
    files: readdirSync(coverage).flatMap((name) => filesIn(readFileSync(join(coverage, name), 'utf8'))),
    sockets: types.filter((type) => NETWORK.test(type)),
  };
}

function filesIn(coverage: string): string[] {
  const { result } = JSON.parse(coverage) as { result: { url: string }[] };
  return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
}
