/** An API server of Kubernetes on etcd, without nodes: it judges and stores objects, and no pod starts. */
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { openSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { atEnd } from '../support/at-end.ts';
import { eventually } from '../support/eventually.ts';
import { goPrograms, type PinnedModule } from '../support/go-programs.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { isOnPath, MissingProgram } from '../support/missing-program.ts';
import { environment } from '../support/processes.ts';

const KUBERNETES: PinnedModule = {
  module: 'k8s.io/kubernetes',
  folder: 'tools/kubernetes',
  programs: { 'kube-apiserver': 'cmd/kube-apiserver', kubectl: 'cmd/kubectl' },
  // They run for a minute, and building them takes a quarter less without optimizations.
  flags: ['-gcflags=all=-N -l'],
};

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Cluster {
  version: string;
  /** Runs a line in this folder, with a `kubectl` that reaches this cluster as its administrator. */
  shell: (line: string, options: { cwd: string; input?: string | undefined }) => Promise<Ended>;
}

/** @param folder gets all files. @throws MissingProgram */
export async function startCluster(folder: string): Promise<Cluster> {
  if (!isOnPath('etcd')) throw new MissingProgram("etcd is missing: install it, such as Debian's package etcd-server");
  const programs = await goPrograms(KUBERNETES, (version) =>
    process.stdout.write(`building Kubernetes ${version} with Go, once: about 6 minutes on 2 cores\n`),
  );
  const [etcd, server] = [await startEtcd(folder), `https://127.0.0.1:${await lastingPort()}`];
  const [key, tokens, token] = [join(folder, 'key'), join(folder, 'tokens'), randomBytes(16).toString('hex')];
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  await writeFile(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await writeFile(tokens, `${token},admin,admin,system:masters\n`);
  const certificates = join(folder, 'certificates');
  const isRunning = startProgram(folder, join(programs.folder, 'kube-apiserver'), [
    ...['--etcd-servers', etcd, '--bind-address', '127.0.0.1', '--secure-port', new URL(server).port],
    ...['--cert-dir', certificates, '--service-cluster-ip-range', '10.0.0.0/24', '--authorization-mode', 'RBAC'],
    ...['--service-account-issuer', server, '--service-account-key-file', key, '--token-auth-file', tokens],
    ...['--service-account-signing-key-file', key],
  ]);
  const kubeconfig = join(folder, 'kubeconfig');
  const authority = join(certificates, 'apiserver.crt');
  const config = {
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    'current-context': 'test',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const env = { ...environment({ KUBECONFIG: kubeconfig }), HOME: folder };
  const shell: Cluster['shell'] = async (line, { cwd, input = '' }) => {
    const path = [programs.folder, process.env.PATH].join(delimiter);
    const child = spawn('sh', ['-euc', line], { cwd, env: { ...env, PATH: path } });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.on('data', (data: Buffer) => void (ended.stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => void (ended.stderr += data.toString()));
    child.stdin.on('error', () => undefined).end(input);
    [ended.code] = (await once(child, 'close')) as [number | null];
    return ended;
  };
  await eventually('the API server', async () => {
    isRunning();
    // Once its own namespaces are there, it has all that it makes for itself.
    const { code } = await shell('kubectl get --raw /readyz && kubectl get namespace default', { cwd: folder });
    return code === 0;
  });
  return { version: programs.version, shell };
}

/** @returns its URL */
async function startEtcd(folder: string): Promise<string> {
  const [url, peer] = [`http://127.0.0.1:${await lastingPort()}`, `http://127.0.0.1:${await lastingPort()}`];
  const data = join(folder, 'etcd');
  await mkdir(data, { mode: 0o700 });
  startProgram(folder, 'etcd', [
    ...['--data-dir', data, '--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`],
  ]);
  return url;
}

/** @returns what throws once the program has ended, with what it said last */
function startProgram(folder: string, program: string, args: string[]): () => void {
  const log = join(folder, `${program.split('/').at(-1)}.log`);
  const output = openSync(log, 'w');
  const child = spawn(program, args, { env: environment({}), stdio: ['ignore', output, output] });
  const ended = once(child, 'close');
  atEnd(async () => {
    child.kill();
    await ended;
  });
  return () => {
    if ((child.exitCode ?? child.signalCode) === null) return;
    throw new Error(`${program} ended:\n${readFileSync(log, 'utf8').trim().split('\n').slice(-10).join('\n')}`);
  };
}
