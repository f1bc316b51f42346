import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { WEBHOOK_PORT } from '../../src/cli/commands/dev.ts';
import { VARIABLES } from '../../src/config/environment/variables.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.ts';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  secrets?: string[];
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  profiles?: string[];
  restart?: string;
  stop_grace_period?: string;
}

interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  volumes: Record<string, unknown>;
}

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string) => readFileSync(inRepository(path), 'utf8');

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const worker = compose.services.worker!;

/** Every string of the parsed file, which compose interpolates. */
function texts(node: unknown): string[] {
  if (typeof node === 'string') return [node];
  return node === null || typeof node !== 'object' ? [] : Object.values(node).flatMap(texts);
}

test('a service waits only for an existing service in a state it can reach', () => {
  for (const [name, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const awaited = compose.services[other];
      assert.ok(awaited, `${name} waits for ${other}`);
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
  const bases = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
  assert.ok(ours.length >= 5 && bases.length === 2);
  for (const image of [...ours, ...bases]) {
    assert.match(image, /:\d+\.\d+(\.\d+)?(-[a-z-]+)?$/);
    assert.doesNotMatch(image, /auto-setup|temporalio\/base-|alpine/);
  }
  for (const [name, { image, build }] of services) assert.notEqual(image === undefined, build === undefined, name);
  assert.ok(!('version' in compose));
});

test('the server has the version of the tools that create its schema', () => {
  const versions = ['temporal', 'temporal-schema', 'temporal-namespace'].map(
    (name) => compose.services[name]?.image?.split(':')[1],
  );
  assert.equal(new Set(versions).size, 1, versions.join());
});

test('only the worker gets the token, as a file', () => {
  assert.deepEqual(Object.keys(compose.secrets), worker.secrets);
  assert.equal(worker.environment?.BELAY_API_TOKEN_FILE, `/run/secrets/${worker.secrets?.[0]}`);
  for (const [name, service] of services) {
    if (service !== worker) assert.doesNotMatch(JSON.stringify(service), /secrets|BELAY_API_TOKEN/, name);
  }
});

test('published ports are reachable from this host only, and the database has none', () => {
  const published = services.flatMap(([, { ports = [] }]) => ports);
  assert.deepEqual(published.toSorted(), ['127.0.0.1:7233:7233', '127.0.0.1:8080:8080']);
});

test('a variable has a default or an explanation, and a password has no default', () => {
  const used = texts(compose).flatMap((text) => [...text.matchAll(/\$(\{[^}]*\}|\w+)/g)].map(([match]) => match));
  assert.ok(used.length > 0);
  for (const variable of used) {
    assert.match(variable, /^\$\{\w+:(-[^}]*|\?[^}]{10,})\}$/);
    if (/PASSWORD|TOKEN/.test(variable)) assert.match(variable, /:\?/);
  }
});

test('the sandbox environment sets every required variable', () => {
  const settings = new Map(
    [...read('deploy/sandbox.env').matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value!]),
  );
  for (const [, name] of JSON.stringify(compose).matchAll(/\$\{(\w+):\?/g)) assert.ok(settings.has(name), name);
  const { port, hostname } = new URL(settings.get('BELAY_API_URL')!);
  assert.ok(compose.services[hostname]?.command?.join(' ').endsWith(`--host 0.0.0.0 --port ${port}`));
  const token = read(settings.get('BELAY_API_TOKEN_FILE')!).trim();
  assert.match(read('src/sandbox.ts'), new RegExp(`TOKEN = '${token}'`));
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

test('the namespace gets exactly the search attributes of the contract', () => {
  const made = [...read('deploy/create-namespace.sh').matchAll(/^retry attribute (\w+) (\w+)$/gm)];
  const typed = made.map(([, name, type]) => [name, type!.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()]);
  assert.deepEqual(Object.fromEntries(typed), SEARCH_ATTRIBUTES);
});

test("the worker's environment has only variables that Belay reads, and requires an address", () => {
  const known: string[] = VARIABLES.map(({ name }) => name);
  for (const name of Object.keys(worker.environment ?? {})) assert.ok(known.includes(name), name);
  assert.match(worker.environment?.BELAY_API_URL ?? '', /^\$\{BELAY_API_URL:\?/);
});

test('a worker gets more time to stop than it gives requests in progress', () => {
  const grace = TIMING.worker.shutdownGraceMs / 1_000;
  assert.ok(Number.parseInt(worker.stop_grace_period ?? '', 10) > grace, `${worker.stop_grace_period}, ${grace}`);
});

test('the override in docs/how-to/docker-compose.md matches the services, secrets and ports', () => {
  const shown = [...read('docs/how-to/docker-compose.md').matchAll(/```yaml\n(services:[^]*?)```/g)].map(
    ([, text]) => text!,
  );
  assert.equal(shown.length, 1);
  const override = parse(shown[0]!) as Compose;
  for (const [name, { environment = {}, volumes = [], secrets = [], ports = [], depends_on = {} }] of Object.entries(
    override.services,
  )) {
    assert.equal(volumes[0]?.split(':')[1], environment.BELAY_CONFIG, name);
    for (const secret of secrets) assert.ok(secret in override.secrets, secret);
    for (const port of ports) assert.match(port, new RegExp(`^127\\.0\\.0\\.1:${WEBHOOK_PORT}:${WEBHOOK_PORT}$`));
    for (const other of Object.keys(depends_on)) assert.ok(other in compose.services, other);
  }
  assert.deepEqual(Object.keys(override.services), ['worker', 'webhooks']);
});

for (const script of readdirSync(inRepository('deploy')).filter((name) => name.endsWith('.sh'))) {
  test(`deploy/${script} is valid in a plain shell`, async () => {
    await promisify(execFile)('sh', ['-n', inRepository(`deploy/${script}`)]);
  });
}
