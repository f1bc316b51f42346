/**
 * The images that docker-compose.yml and the Dockerfile name, from Debian's packages, npm and Go modules, because a test
 * needs no registry of images. They differ from the official ones: all are Debian, none is Alpine; PostgreSQL is
 * Debian's, and its entrypoint is ours; the CLI is the one that `belay dev` uses. What Temporal's images run comes from
 * the modules that tools/ pins, also the entrypoints.
 *
 * Packages come from where npm, Go and apt of this machine get them. Its certificates go into the stand-in of Node only.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildEnvironment } from '../../src/config/environment/environment.ts';
import { temporalPrograms } from '../production/temporal-programs.ts';
import { inRepository, read, service } from '../support/compose.ts';
import { MissingProgram } from '../support/missing-program.ts';
import { temporalExecutable } from '../support/temporal.ts';
import { uiProgram } from '../ui/shipped-ui.ts';
import type { Engine } from './engine.ts';

const run = promisify(execFile);
const COMPOSE = 'github.com/docker/compose/v2';
const COMPOSE_VERSION = 'v2.40.3';
const RELEASE = 'bookworm';
const BASE = `debian:${RELEASE}-slim`;
const NPM_VERSION = '10.9.8';
const NODE_IMAGE = /^FROM (node:\S+)/m.exec(read('Dockerfile'))![1]!;

/** Every stage of stand-ins.Dockerfile that replaces an image, and that image. */
const IMAGES = {
  node: NODE_IMAGE,
  postgresql: service('postgresql').image!,
  'temporal-server': service('temporal').image!,
  'temporal-admin-tools': service('temporal-schema').image!,
  'temporal-ui': service('temporal-ui').image!,
};

/** Builds what is not there yet. */
export async function prepareStandIns(engine: Engine, say: (line: string) => void): Promise<void> {
  const has = (image: string) =>
    engine.docker('image', 'inspect', image).then(
      () => true,
      () => false,
    );
  if (!(await has(BASE))) {
    say('builds Debian');
    await debian(engine);
  }
  const missing: string[] = [];
  for (const [stage, image] of Object.entries(IMAGES)) if (!(await has(image))) missing.push(stage);
  await requireContainers(engine, missing.length > 0);
  await compose(engine, say);
  if (missing.length === 0) return;
  say(`builds the images ${missing.join(', ')}`);
  const context = join(engine.folder, 'context');
  await rm(context, { recursive: true, force: true });
  await mkdir(context);
  await cp(inRepository('test/containers/postgresql-entrypoint.sh'), join(context, 'postgresql-entrypoint.sh'));
  await node(join(context, 'node'));
  await temporal(context, say);
  const dockerfile = inRepository('test/containers/stand-ins.Dockerfile');
  const services: Record<string, unknown> = {};
  for (const [target, image] of Object.entries(IMAGES)) {
    services[target] = { image, build: { context, dockerfile, target } };
  }
  const file = join(context, 'compose.json');
  await writeFile(file, JSON.stringify({ services }));
  // One after another: together they need more memory than a small machine has.
  for (const stage of missing) {
    const began = Date.now();
    const project = ['--project-name', 'stand-ins', '--file', file, '--progress', 'plain'];
    await engine.docker('compose', ...project, 'build', stage);
    say(`built ${stage} in ${Math.round((Date.now() - began) / 1_000)} s`);
  }
  await rm(context, { recursive: true });
}

/** The plugin of this machine, or else its Go module, which is its own main module. */
async function compose(engine: Engine, say: (line: string) => void): Promise<void> {
  if (
    await engine.docker('compose', 'version').then(
      () => true,
      () => false,
    )
  )
    return;
  const plugins = join(engine.env.DOCKER_CONFIG!, 'cli-plugins');
  const program = join(plugins, 'docker-compose');
  say(`builds Compose ${COMPOSE_VERSION} with Go, once: about 4 minutes on 2 cores`);
  const options = { cwd: engine.folder, env: { ...buildEnvironment(), CGO_ENABLED: '0' }, maxBuffer: 2 ** 26 };
  const { stdout } = await run('go', ['mod', 'download', '-json', `${COMPOSE}@${COMPOSE_VERSION}`], options);
  const { Dir: cwd } = JSON.parse(stdout) as { Dir: string };
  const flags = `-s -w -X ${COMPOSE}/internal.Version=${COMPOSE_VERSION}`;
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', flags, '-o', `${program}.building`, './cmd'];
  await mkdir(plugins, { recursive: true });
  await run('go', args, { ...options, cwd });
  await rename(`${program}.building`, program);
}

/**
 * The kernel may refuse what the engine asks for only once a container runs.
 * @throws MissingProgram
 */
async function requireContainers({ docker }: Engine, isBuilding: boolean): Promise<void> {
  const limits = await docker('info', '--format', '{{.MemoryLimit}} {{.PidsLimit}}');
  if (limits !== 'true true') throw new MissingProgram('the engine cannot limit memory and processes on this machine');
  const command = isBuilding ? ['apt-get', 'update'] : ['true'];
  await docker('run', '--rm', '--memory', '256m', '--pids-limit', '256', BASE, ...command).catch((error: Error) => {
    throw new MissingProgram(`the engine runs no containers on this machine: ${error.message}`);
  });
}

async function debian({ folder, env }: Engine): Promise<void> {
  const root = join(folder, 'debian');
  await rm(root, { recursive: true, force: true });
  const args = ['--variant=minbase', RELEASE, root, ...(await mirror())];
  await run('debootstrap', args, { maxBuffer: 2 ** 26 }).catch((error: Error & { stdout: string }) => {
    const last = error.stdout.trim().split('\n').slice(-5).join('\n');
    throw new MissingProgram(`debootstrap makes no Debian on this machine: ${error.message}${last}`);
  });
  const script = [
    'rm -rf "$1"/var/cache/apt/*.bin "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/* "$1"/var/log/*',
    'find "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/info" "$1/usr/share/locale" -mindepth 1 -delete',
    // As docker-clean of the official image.
    `echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };' >"$1/etc/apt/apt.conf.d/docker-clean"`,
    'cp -r /etc/apt/apt.conf.d/99* "$1/etc/apt/apt.conf.d/" 2>/dev/null || true',
    'tar -C "$1" --numeric-owner -c . | docker import --change \'CMD ["bash"]\' - "$2"',
    'rm -rf "$1"',
  ];
  await run('bash', ['-euo', 'pipefail', '-c', script.join('\n'), 'bash', root, BASE], { env, maxBuffer: 2 ** 26 });
}

/** Of Debian's packages, if this machine is a Debian. */
async function mirror(): Promise<string[]> {
  const format = ['indextargets', '--format', '$(ORIGIN) $(RELEASE) $(SITE)', 'Created-By: Packages'];
  const { stdout } = await run('apt-get', format);
  const line = stdout.split('\n').find((it) => it.startsWith(`Debian ${RELEASE} `));
  return line === undefined ? [] : [line.split(' ')[2]!];
}

async function node(folder: string): Promise<void> {
  const version = /^node:(\d+\.\d+\.\d+)-/.exec(NODE_IMAGE)![1]!;
  const [modules, settings, bin] = ['lib/node_modules', 'etc', 'bin'].map((it) => join(folder, it));
  for (const it of [modules!, settings!, bin!]) await mkdir(it, { recursive: true });
  const packed = async (name: string, target: string) => {
    const { stdout } = await run('npm', ['pack', '--silent', name], { cwd: folder, env: buildEnvironment() });
    await mkdir(target, { recursive: true });
    const archive = join(folder, stdout.trim());
    await run('tar', ['-xzf', archive, '-C', target, '--strip-components=1']);
    await rm(archive);
  };
  await packed(`node-linux-${process.arch}@${version}`, join(folder, 'node'));
  await rename(join(folder, 'node/bin/node'), join(bin!, 'node'));
  await rm(join(folder, 'node'), { recursive: true });
  await packed(`npm@${NPM_VERSION}`, join(modules!, 'npm'));
  // The certificates and the registry of this machine.
  const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE } = process.env;
  const trusted = NODE_EXTRA_CA_CERTS ?? SSL_CERT_FILE;
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'], { env: buildEnvironment() });
  const lines = [`registry=${registry.trim()}`];
  if (trusted !== undefined && existsSync(trusted)) {
    await writeFile(join(settings!, 'ca.pem'), await readFile(trusted));
    lines.push('cafile=/usr/local/etc/ca.pem');
  }
  await writeFile(join(settings!, 'npmrc'), `${lines.join('\n')}\n`);
}

async function temporal(context: string, say: (line: string) => void): Promise<void> {
  const [server, ui, cli] = [await temporalPrograms(say), await uiProgram(), await temporalExecutable()];
  const sources: [from: string, to: string][] = [
    [join(server.folder, 'temporal-server'), 'temporal-server/temporal-server'],
    [join(server.schemaFolder, '../docker/scripts/sh/entrypoint.sh'), 'temporal-server/entrypoint.sh'],
    [cli, 'temporal-admin-tools/bin/temporal'],
    [join(server.folder, 'temporal-sql-tool'), 'temporal-admin-tools/bin/temporal-sql-tool'],
    [server.schemaFolder, 'temporal-admin-tools/schema'],
    [join(ui.folder, 'ui-server'), 'temporal-ui/ui-server'],
    [join(ui.sourceFolder, 'docker/start-ui-server.sh'), 'temporal-ui/start-ui-server.sh'],
    [join(ui.sourceFolder, 'config/docker.yaml'), 'temporal-ui/docker.yaml'],
  ];
  for (const [from, to] of sources) await cp(from, join(context, to), { recursive: true });
  // Go keeps its modules read-only.
  await run('chmod', ['-R', 'u+w,a+rX', context]);
}
