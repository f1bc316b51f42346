/** What docker-compose.yml keeps away from its containers, and when Docker sees that one is in trouble. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  bytesOf,
  compose,
  heapOf,
  inRepository,
  lastingServices,
  routesIn,
  service,
  services,
} from '../support/compose.ts';
import { choosePort } from '../../src/dev/ports.ts';
import { literalService } from '../support/literal.ts';

const run = promisify(execFile);

/** Frontend, history, matching and worker. */
const SERVICES_OF_TEMPORAL = 4;
/** PostgreSQL's defaults: all connections, and those that only superusers get. */
const [CONNECTIONS, RESERVED] = [100, 3];

test('every container is read-only and without privileges, and its logs have a limit', () => {
  for (const [name, it] of services) {
    assert.equal(it.read_only, true, name);
    assert.ok(it.tmpfs?.includes('/tmp'), name);
    assert.deepEqual(it.cap_drop, ['ALL'], name);
    assert.deepEqual(it.security_opt, ['no-new-privileges:true'], name);
    assert.ok(it.pids_limit !== undefined, name);
    assert.match(it.logging?.options['max-size'] ?? '', /^\d+m$/, name);
    assert.match(it.logging?.options['max-file'] ?? '', /^\d+$/, name);
    if (name !== 'postgresql') assert.equal(it.cap_add, undefined, name);
  }
});

test('every container has a memory limit, and its heap has a lower one', () => {
  for (const [name, { build, mem_limit = '', memswap_limit, environment = {} }] of services) {
    const limit = bytesOf(mem_limit);
    assert.equal(memswap_limit, mem_limit, name);
    if (build !== undefined) assert.ok(heapOf(environment) <= limit / 2, name);
  }
  assert.ok(bytesOf(service('temporal').environment.GOMEMLIMIT!) < bytesOf(service('temporal').mem_limit!));
});

test("the connection pools fit PostgreSQL's connections", () => {
  const { SQL_MAX_CONNS, SQL_VIS_MAX_CONNS } = service('temporal').environment;
  const most = SERVICES_OF_TEMPORAL * (Number(SQL_MAX_CONNS) + Number(SQL_VIS_MAX_CONNS));
  assert.equal(service('postgresql').command, undefined, 'it has the default number of connections');
  // The same again would not fit, but a second server may start while the first one stops.
  assert.ok(most > 0 && most <= CONNECTIONS - RESERVED - 20, `${most} connections`);
});

test('every secret is a file, and only services that need it get it', () => {
  const users = (secret: string) => services.filter(([, it]) => it.secrets?.includes(secret)).map(([name]) => name);
  assert.deepEqual(
    Object.keys(compose.secrets).map((secret) => [secret, users(secret)]),
    [
      ['api-token', ['worker']],
      ['database-password', ['postgresql', 'temporal-schema', 'temporal']],
      ['board-secret', ['board']],
      ['webhook-secret', ['webhooks']],
    ],
  );
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    assert.equal(file, `\${SECRETS_FOLDER:-../belay-secrets}/${name}`);
  }
});

test('a variable for a secret names the file of a secret that its service gets', () => {
  for (const [name, { environment = {}, secrets = [] }] of services) {
    for (const [variable, value] of Object.entries(environment)) {
      if (!/PASSWORD|PWD|TOKEN|SECRET|_KEY/.test(variable)) continue;
      assert.match(variable, /_FILE$/, name);
      assert.ok(
        secrets.some((secret) => value === `/run/secrets/${secret}`),
        `${name}: ${variable}`,
      );
    }
  }
});

test('the UI offers no reset and fetches no news', () => {
  const { TEMPORAL_WORKFLOW_RESET_DISABLED, TEMPORAL_DISABLE_NEWS_FETCH } = service('temporal-ui').environment;
  assert.deepEqual([TEMPORAL_WORKFLOW_RESET_DISABLED, TEMPORAL_DISABLE_NEWS_FETCH], ['true', 'true']);
});

test('every lasting service has a health check', () => {
  for (const [name, { healthcheck }] of lastingServices) assert.equal(healthcheck?.test[0], 'CMD', name);
});

const CHECKS = [
  { name: 'worker', folder: 'src/worker', path: '/readyz' },
  { name: 'webhooks', folder: 'src/webhooks', path: '/readyz' },
  { name: 'board', folder: 'src/features/board', path: '/healthz' },
  { name: 'sandbox', folder: 'src/sandbox', path: '/sandbox/deliveries' },
];

/** Where the program of a service answers, by its settings. */
function portOf(name: string): string | undefined {
  const { command, environment } = service(name);
  return command?.at(-1) ?? environment.BELAY_METRICS_ADDRESS?.split(':')[1];
}

for (const { name, folder, path } of CHECKS) {
  test(`the health check of ${name} asks a path that it serves, on its port`, () => {
    const [, address, asked] = /'http:\/\/([^/]+)([^']+)'/.exec(service(name).healthcheck!.test.at(-1)!) ?? [];
    assert.equal(asked, path);
    assert.ok(routesIn(folder).includes(path));
    assert.equal(address, `127.0.0.1:${portOf(name)}`);
  });
}

test('a health check succeeds only after a good answer', async () => {
  const answers = [200, 503];
  const { url } = await literalService((_request, response) => void response.writeHead(answers.shift()!).end());
  const [, , flag, code] = service('worker').healthcheck!.test;
  const ask = (base: string) =>
    run(process.execPath, [flag!, code!.replace(/http:\/\/[^/]+/, base)]).then(
      () => 0,
      (error: { code: number }) => error.code,
    );
  assert.deepEqual([await ask(url), await ask(url)], [0, 1]);
  assert.equal(await ask(`http://127.0.0.1:${await choosePort('', 0)}`), 1);
});

test("the database password reaches Temporal's programs from its file, and a missing file stops them", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
  const file = join(folder, 'password');
  const wrapped = (path: string) =>
    run(
      'sh',
      [
        inRepository('deploy/with-database-password.sh'),
        'sh',
        '-c',
        'echo "$POSTGRES_PWD $SQL_PASSWORD $1"',
        'sh',
        'given',
      ],
      {
        env: { PATH: process.env.PATH, POSTGRES_PASSWORD_FILE: path },
      },
    );
  try {
    await writeFile(file, 'canary-5\n');
    assert.equal((await wrapped(file)).stdout, 'canary-5 canary-5 given\n');
    await assert.rejects(wrapped(join(folder, 'absent')), ({ stdout }: { stdout: string }) => stdout === '');
  } finally {
    await rm(folder, { recursive: true });
  }
});

for (const script of readdirSync(inRepository('deploy')).filter((name) => name.endsWith('.sh'))) {
  test(`deploy/${script} is valid in a plain shell`, async () => {
    await run('sh', ['-n', inRepository(`deploy/${script}`)]);
  });
}
