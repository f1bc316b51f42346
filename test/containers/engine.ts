/**
 * A Docker engine of its own, in namespaces of its own. `slirp4netns` connects it, so it makes no interface and no rule
 * on this machine, and its containers reach this machine's loopback as 10.0.2.2. All of its processes end with the one
 * that leads its process namespace, which ends with this process, however that ends.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { eventually } from '../support/eventually.ts';
import { isOnPath, MissingProgram } from '../support/missing-program.ts';

const run = promisify(execFile);

/** What the containers call this machine's loopback, and who answers them about names. */
export const HOST = '10.0.2.2';
const NAME_SERVER = '10.0.2.3';

const PROGRAMS = [
  ...['dockerd', 'docker', 'slirp4netns', 'debootstrap', 'iptables', 'ip', 'nsenter', 'setpriv', 'unshare'],
  ...['curl', 'go'],
];
const PACKAGES = 'docker.io, debootstrap, iptables, iproute2, slirp4netns, util-linux and curl, and Go';
const CONTROL_GROUP = 'belay-containers';
const CONTROL_GROUPS = '/sys/fs/cgroup';

/** @throws MissingProgram */
export function requireEngine(): void {
  if (process.platform !== 'linux') throw new MissingProgram('the engine needs Linux');
  if (process.getuid?.() !== 0) throw new MissingProgram('the engine needs root: run it as root');
  if (!existsSync('/dev/net/tun')) throw new MissingProgram('the engine needs /dev/net/tun: load the module tun');
  if (!existsSync(CONTROL_GROUPS)) throw new MissingProgram(`the engine needs control groups: mount ${CONTROL_GROUPS}`);
  const missing = PROGRAMS.filter((program) => !isOnPath(program));
  if (missing.length > 0) {
    throw new MissingProgram(`${missing.join(', ')} not found: install ${PACKAGES}`);
  }
}

interface Ended {
  code: number | null;
  stdout: string;
  /** With stderr, in the order of both. */
  output: string;
}

export interface Engine {
  /** For `docker` and `docker compose`. */
  readonly env: NodeJS.ProcessEnv;
  /** Holds its images, and whatever else should be kept. */
  readonly folder: string;
  /** @throws MissingProgram if it does not start, with what its log ends with */
  start(): Promise<void>;
  /** As a shutdown of the machine does: containers get their time to end. */
  stop(): Promise<void>;
  /** As a power cut does: the engine and all containers end at once. */
  kill(): Promise<void>;
  /** @returns what `docker` printed. @throws with what it printed on stderr */
  docker: (...args: string[]) => Promise<string>;
  /** Runs a command in its network, where the ports are that the containers publish. */
  inside: (command: string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv }) => Promise<Ended>;
  /** Sends SIGKILL to the first process of a container, unlike `docker kill`, after which Docker restarts nothing. */
  crash(container: string): Promise<void>;
}

/** @param folder is kept, and may hold the images of an earlier engine */
export function createEngine(folder: string): Engine {
  const state = join(folder, 'state');
  const socket = join(state, 'socket');
  const env = { ...childEnvironment(), DOCKER_HOST: `unix://${socket}`, DOCKER_CONFIG: join(folder, 'config') };
  let namespaces: ChildProcess | undefined;
  let network: ChildProcess | undefined;

  const docker = async (...args: string[]) => (await run('docker', args, { env, maxBuffer: 2 ** 28 })).stdout.trim();
  /** Leads the process namespace; its number is that of this machine. */
  const leader = () => readFileSync(`/proc/${namespaces!.pid}/task/${namespaces!.pid}/children`, 'utf8').trim();
  const log = join(folder, 'log');
  const requireRunning = () => {
    if ([namespaces, network].every((it) => it === undefined || (it.exitCode ?? it.signalCode) === null)) return;
    const last = readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n');
    throw new MissingProgram(`the engine does not start on this machine:\n${last}`);
  };

  async function start(): Promise<void> {
    // As /run after a restart of the machine.
    await rm(state, { recursive: true, force: true });
    await removeControlGroups();
    await mkdir(state, { recursive: true });
    await mkdir(env.DOCKER_CONFIG, { recursive: true });
    const flags = [
      ...['--data-root', join(folder, 'data'), '--exec-root', join(state, 'exec'), '--pidfile', join(state, 'pid')],
      ...['--host', env.DOCKER_HOST, '--storage-driver', 'overlay2', '--dns', NAME_SERVER],
      ...['--cgroup-parent', `/${CONTROL_GROUP}`],
    ];
    const script = 'ip link set lo up; until ip route | grep -q default; do sleep 0.1; done; exec dockerd "$@"';
    const output = openSync(log, 'w');
    const own = ['--net', '--pid', '--mount', '--mount-proc', '--fork', '--kill-child'];
    namespaces = tied(['unshare', ...own, 'sh', '-c', script, 'sh', ...flags], output);
    const { pid } = namespaces;
    try {
      await eventually('the namespaces', () => {
        requireRunning();
        return leader() !== '';
      });
      network = tied(['slirp4netns', '--configure', '--mtu', '65520', String(pid), 'tap0'], output);
      await eventually('the engine', () => {
        requireRunning();
        return docker('version').catch(() => null);
      });
    } catch (error) {
      // A shell that leads a process namespace does not see SIGTERM.
      await end('SIGKILL');
      throw error;
    } finally {
      closeSync(output);
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (namespaces === undefined) return;
    const ended = [namespaces, network].map(
      (it) => it && it.exitCode === null && it.signalCode === null && once(it, 'close'),
    );
    if (ended[0]) process.kill(Number(leader()), signal);
    await ended[0];
    network?.kill();
    await ended[1];
    [namespaces, network] = [undefined, undefined];
    await removeControlGroups();
  }

  return {
    env,
    folder,
    start,
    docker,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async inside(command, options = {}) {
      const network = `--net=/proc/${namespaces!.pid}/ns/net`;
      const child = spawn('nsenter', [network, ...command], { env, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, output] = ['', ''];
      child.stdout.on('data', (data: Buffer) => void ((stdout += data.toString()), (output += data.toString())));
      child.stderr.on('data', (data: Buffer) => void (output += data.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, stdout, output };
    },
    async crash(container) {
      // Its number within the process namespace of the engine.
      const pid = await docker('inspect', '--format', '{{.State.Pid}}', container);
      await run('nsenter', [`--pid=/proc/${leader()}/ns/pid`, `--mount=/proc/${leader()}/ns/mnt`, 'kill', '-9', pid]);
    },
  };
}

/** Ends with this process. */
function tied(command: string[], output: number): ChildProcess {
  const stdio = ['ignore' as const, output, output];
  return spawn('setpriv', ['--pdeathsig', 'KILL', ...command], { env: childEnvironment(), stdio });
}

/** An engine that was killed leaves them behind, and they are empty. */
async function removeControlGroups(): Promise<void> {
  const roots = [CONTROL_GROUPS, ...readdirSync(CONTROL_GROUPS).map((name) => join(CONTROL_GROUPS, name))];
  for (const root of roots.map((it) => join(it, CONTROL_GROUP)).filter((it) => existsSync(it))) {
    const below = readdirSync(root, { withFileTypes: true, recursive: true }).filter((it) => it.isDirectory());
    const deepestFirst = below.map((it) => join(it.parentPath, it.name)).sort((a, b) => b.length - a.length);
    for (const group of [...deepestFirst, root]) await rmdir(group).catch(() => undefined);
  }
}
