/** docker-compose.yml fits together, and with the code. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { machine } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { parse } from 'yaml';
import { program } from '../../src/cli/program.ts';
import { BOARD_PORT, WEBHOOK_PORT } from '../../src/cli/options.ts';
import { VARIABLES } from '../../src/config/environment/variables.ts';
import { readConfiguration } from '../../src/config/load.ts';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { pinnedServer } from '../production/temporal-programs.ts';
import { pinnedVersion } from '../support/go-programs.ts';
import { ROOT } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';
import { UI_MODULE } from '../ui/shipped-ui.ts';
import { compose, inRepository, read, service, services, versionOf } from '../support/compose.ts';

const DOCUMENT = 'docs/how-to/docker-compose.md';

/** Every string of the parsed file, which compose interpolates. */
function texts(node: unknown): string[] {
  if (typeof node === 'string') return [node];
  return node === null || typeof node !== 'object' ? [] : Object.values(node).flatMap(texts);
}

test('a service waits only for an existing service in a state it can reach', () => {
  for (const [name, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const awaited = service(other);
      assert.equal(awaited.profiles, undefined, `${name} waits for ${other}, which does not always run`);
      if (condition === 'service_healthy') assert.ok(awaited.healthcheck, `${other} has no health check`);
      else assert.equal(condition, 'service_completed_successfully', name);
      // A service that always restarts never completes.
      if (condition === 'service_completed_successfully') assert.equal(awaited.restart, undefined, other);
    }
  }
});

test('images are pinned to a full version, and none is deprecated', () => {
  const ours = services.flatMap(([, { image }]) => image ?? []);
  const files = ['Dockerfile', 'deploy/client.Dockerfile'].map(read).join('\n');
  const bases = [...files.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
  assert.ok(ours.length >= 5 && bases.length === 3);
  assert.equal(new Set(bases).size, 1, bases.join());
  for (const image of [...ours, ...bases]) {
    assert.match(image, /:\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[\da-f]{64})?$/);
    assert.doesNotMatch(image, /auto-setup|temporalio\/base-|alpine/);
  }
  for (const [name, { image, build }] of services) assert.notEqual(image === undefined, build === undefined, name);
  assert.ok(!('version' in compose));
});

test('the server has the version of the tools that create its schema', () => {
  const versions = ['temporal', 'temporal-schema', 'temporal-namespace'].map(versionOf);
  assert.equal(new Set(versions).size, 1, versions.join());
});

test('the production topology of the tests has the version of the server', () => {
  assert.equal(pinnedServer(), versionOf('temporal'));
});

test('the tests of the UI have its version', () => {
  assert.equal(pinnedVersion(UI_MODULE), versionOf('temporal-ui'));
});

test('there are two workers', () => {
  assert.equal(service('worker').deploy?.replicas, '${WORKERS:-2}');
});

test('published ports are reachable from this host only, and the database has none', () => {
  const published = services.flatMap(([, { ports = [] }]) => ports).toSorted();
  const own = [
    ['BOARD_PORT', '4183'],
    ['TEMPORAL_PORT', '7233'],
    ['UI_PORT', '8080'],
    ['WEBHOOKS_PORT', '4181'],
  ];
  assert.deepEqual(
    published,
    own.map(([variable, port]) => `127.0.0.1:\${${variable}:-${port}}:${port}`),
  );
  const sandbox = read('deploy/sandbox.env');
  for (const [variable, port] of own) {
    const other = new RegExp(`^${variable}=(\\d+)$`, 'm').exec(sandbox)?.[1];
    assert.ok(other !== undefined && other !== port, `${variable}: the sandbox runs beside production`);
  }
});

test('the receiver listens on its usual port, which is published', () => {
  const { command = [], ports } = service('webhooks');
  assert.ok(command.join(' ').endsWith(`webhooks --host 0.0.0.0 --port ${WEBHOOK_PORT}`));
  assert.deepEqual(ports, [`127.0.0.1:\${WEBHOOKS_PORT:-${WEBHOOK_PORT}}:${WEBHOOK_PORT}`]);
});

test('the board listens on its usual port, which is published, and asks for its secret', () => {
  const { command = [], ports } = service('board');
  assert.ok(command.join(' ').includes('board --host 0.0.0.0 --secret-file /run/secrets/board-secret'));
  assert.equal(command.at(-1), String(BOARD_PORT));
  assert.deepEqual(ports, [`127.0.0.1:\${BOARD_PORT:-${BOARD_PORT}}:${BOARD_PORT}`]);
});

test('a variable has a default or an explanation', () => {
  const used = texts(compose).flatMap((text) => [...text.matchAll(/\$(\{[^}]*\}|\w+)/g)].map(([match]) => match));
  assert.ok(used.length > 0);
  for (const variable of used) assert.match(variable, /^\$\{\w+:(-[^}]*|\?[^}]{10,})\}$/);
});

test('the sandbox environment sets every required variable, and its token is that of the sandbox', () => {
  const settings = new Map(
    [...read('deploy/sandbox.env').matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value!]),
  );
  for (const [, name] of JSON.stringify(compose).matchAll(/\$\{(\w+):\?/g)) assert.ok(settings.has(name), name);
  const { port, hostname } = new URL(settings.get('BELAY_API_URL')!);
  assert.ok(service(hostname).command?.join(' ').endsWith(`--host 0.0.0.0 --port ${port}`));
  const token = read(`${settings.get('SECRETS_FOLDER')}/api-token`).trim();
  assert.match(read('src/sandbox.ts'), new RegExp(`TOKEN = '${token}'`));
  assert.match(read(`${settings.get('SECRETS_FOLDER')}/database-password`), /^[A-Za-z\d]+\n$/);
});

test('everything mounted or built is in the repository', () => {
  for (const source of services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]!))) {
    if (source.startsWith('.')) assert.ok(statSync(inRepository(source)).isFile(), source);
    else assert.ok(source in compose.volumes, source);
  }
  for (const [, path] of read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of path!.split(' ')) {
      assert.ok(statSync(inRepository(source)), source);
      assert.ok(read('.dockerignore').split('\n').includes(`!${source}`), `${source} does not reach the build`);
    }
  }
  assert.ok(services.every(([, { build }]) => build === undefined || build === '.'));
});

test('the image runs each command of the command line, the worker by default, and its services give only arguments', () => {
  const image = read('Dockerfile');
  const [, entry = ''] = /^ENTRYPOINT (.+)$/m.exec(image) ?? [];
  const [, standard = ''] = /^CMD (.+)$/m.exec(image) ?? [];
  assert.deepEqual(JSON.parse(entry), ['node', 'dist/cli.js']);
  const names = program().commands.map((command) => command.name());
  const given = services.flatMap(([, { build, command }]) => (build === undefined || !command ? [] : [command]));
  const pods =
    read('deploy/kubernetes/webhooks.yaml')
      .match(/^ +args: \[.+/gm)
      ?.map((line) => line.trim().slice(6)) ?? [];
  const runs = [...read('deploy/replace-workers.sh').matchAll(/ run (?:--\S+ )*worker (.+)$/gm)];
  assert.ok(given.length >= 2 && pods.length === 1 && runs.length === 1);
  const scripted = runs.map(([, line = '']) => line.split(' '));
  for (const [name] of [
    ...[JSON.parse(standard) as string[], ...given, ...scripted],
    ...pods.map((text) => parse(text) as string[]),
  ])
    assert.ok(names.includes(name!), name);
});

/** @param answer how `docker` answers, as cases of a shell. @returns what the script asked of it, but for questions */
async function replaceWorkers(answer: string): Promise<{ status: number | null; asked: string[]; stderr: string }> {
  const folder = await tempFolder();
  const docker = ['#!/bin/sh', `echo "$*" >>${folder}/asked`, `case "$*" in`, answer, 'esac', ''].join('\n');
  writeFileSync(join(folder, 'docker'), docker, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const script = ['deploy/replace-workers.sh'];
  const { status, stderr } = spawnSync('sh', script, { cwd: fileURLToPath(ROOT), env, encoding: 'utf8' });
  const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
  return {
    ...{ status, stderr },
    asked: asked.filter((it) => /^(stop|rm) | up /.test(it)).map((it) => it.replace(/^compose | --.*/g, '')),
  };
}

test('the script that replaces workers fails if it cannot find them', async () => {
  assert.deepEqual(await replaceWorkers('*" ps "*) exit 3 ;;'), { status: 3, stderr: '', asked: [] });
  const { status, stderr, asked } = await replaceWorkers('*" ps "*) ;; inspect*) exit 0 ;;');
  assert.ok(status !== 0 && asked.length === 0);
  assert.match(stderr, /there is none: start them with docker compose up --detach worker$/m);
});

const LISTED = '*" ps "*) echo one two ;;';

test('the script that replaces workers starts each new one before it stops the next, and leaves other containers alone', async () => {
  const states = 'healthy False one\\nhealthy False two\\nunhealthy True waiting';
  const asked = ['stop two', 'rm two', 'up', 'stop one', 'rm one', 'up'];
  assert.deepEqual(await replaceWorkers(`${LISTED} inspect*) printf '${states}' ;;`), { status: 0, stderr: '', asked });
});

test('the script that replaces workers begins with one that is not healthy, and stops no other if its successor is not healthy', async () => {
  const states = 'healthy False one\\nunhealthy False two\\nhealthy False three';
  const answer = `${LISTED} inspect*) printf '${states}' ;; *" up "*) exit 1 ;;`;
  assert.deepEqual(await replaceWorkers(answer), { status: 1, stderr: '', asked: ['stop two', 'rm two', 'up'] });
});

test('the image keeps the native core of its own platform', async () => {
  const folder = await tempFolder();
  const releases = join(folder, 'node_modules/@temporalio/core-bridge/releases');
  const [own, others] = [`${machine()}-unknown-linux-gnu`, ['aarch64-apple-darwin', 'other-unknown-linux-gnu']];
  for (const name of [own, ...others]) {
    mkdirSync(join(releases, name), { recursive: true });
    writeFileSync(join(releases, name, 'index.node'), '');
  }
  const [, prune = ''] = /^RUN (find .+?[^\\])$/ms.exec(read('Dockerfile')) ?? [];
  execFileSync('sh', ['-c', prune], { cwd: folder });
  assert.deepEqual(readdirSync(releases), [own]);
});

test('the database is on a named volume', () => {
  assert.deepEqual(service('postgresql').volumes, ['postgresql:/var/lib/postgresql/data']);
  assert.ok('postgresql' in compose.volumes);
});

test('the namespace gets exactly the search attributes of the contract', () => {
  const made = [...read('deploy/create-namespace.sh').matchAll(/^retry attribute (\w+) (\w+)$/gm)];
  const typed = made.map(([, name, type]) => [name, type!.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()]);
  assert.deepEqual(Object.fromEntries(typed), SEARCH_ATTRIBUTES);
});

test("Belay's services have only variables that Belay or Node reads, and the worker requires an address", () => {
  const known: string[] = ['NODE_OPTIONS', ...VARIABLES.map(({ name }) => name)];
  for (const [name, { build, environment = {} }] of services) {
    const unknown = Object.keys(environment).filter((variable) => !known.includes(variable));
    if (build !== undefined) assert.deepEqual(unknown, [], name);
  }
  assert.match(service('worker').environment.BELAY_API_URL ?? '', /^\$\{BELAY_API_URL:\?/);
});

test('the worker and the receiver read the same configuration, which is valid', async () => {
  const [worker, webhooks] = [service('worker'), service('webhooks')];
  assert.deepEqual(worker.configs, webhooks.configs);
  for (const { environment, configs } of [worker, webhooks]) {
    assert.equal(environment.BELAY_CONFIG, configs?.[0]?.target);
  }
  const path = /:-(.+)\}$/.exec(compose.configs[worker.configs![0]!.source]!.file)?.[1];
  const { events } = await readConfiguration({ path: inRepository(path!), isNamed: true });
  // The receiver finds the secrets of the senders.
  const files = Object.values(events?.sources ?? {}).flatMap((source) => ('secrets' in source ? source.secrets : []));
  assert.deepEqual(
    files,
    webhooks.secrets?.map((secret) => ({ file: `/run/secrets/${secret}` })),
  );
});

test('a worker gets more time to stop than it gives requests in progress', () => {
  const graceMs = Number(/^(\d+)s$/.exec(service('worker').stop_grace_period ?? '')?.[1]) * 1_000;
  assert.ok(graceMs > TIMING.worker.shutdownGraceMs, `${graceMs} ms, ${TIMING.worker.shutdownGraceMs} ms`);
});

test('the document names every variable of the compose file', () => {
  const used = [...JSON.stringify(compose).matchAll(/\$\{(\w+):/g)].map(([, name]) => name!);
  const text = read(DOCUMENT);
  for (const name of new Set(used)) if (name !== 'BELAY_ALLOW_HTTP') assert.ok(text.includes(`\`${name}\``), name);
});

test('every service, profile and file that the commands of the document name exists', () => {
  const profiles = new Set(services.flatMap(([, it]) => it.profiles ?? []));
  for (const text of [read(DOCUMENT), read('docker-compose.yml')]) {
    const found = [...text.matchAll(/^(?:#| )*docker compose .*$/gm)].map(([command]) => command);
    assert.ok(found.length >= 3);
    for (const command of found) {
      if (/ up /.test(command))
        assert.match(command, / --detach --wait\b/, 'the next command finds a worker that polls');
      for (const [, name] of command.matchAll(/(?:exec|restart) (?:--\S+ )?([\w-]+)/g)) {
        assert.ok(name! in compose.services, name);
      }
      for (const [, name] of command.matchAll(/--env-file (\S+)/g)) assert.ok(statSync(inRepository(name!)), name);
    }
  }
  const chosen = [read(DOCUMENT), read('deploy/sandbox.env')].map((text) => /COMPOSE_PROFILES=(\w+)/.exec(text)?.[1]);
  for (const name of chosen) assert.ok(profiles.has(name!), name);
});
