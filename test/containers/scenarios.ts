/** What happens to the containers of docker-compose.yml, and what has to be true afterwards. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { RunResult } from '../../src/contract/run.ts';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { writePackages } from '../../tools/packages.ts';
import { bytesOf, inRepository, service } from '../support/compose.ts';
import { eventually } from '../support/eventually.ts';
import { posts } from '../support/journal.ts';
import { CLI } from '../support/processes.ts';
import type { Engine } from './engine.ts';
import type { HowTo } from './how-to.ts';

/** Of each image over its base. */
const [IMAGE_MB, CLIENT_MB] = [190, 10];
const LOG_MB = 50;
const MB = 1_000_000;
/** Of `belay`: Temporal cannot be reached, or no worker polls. */
const EXIT_AWAY = 7;

export interface Place {
  engine: Engine;
  howTo: HowTo;
  /** The hosting service of production. */
  sandbox: Sandbox;
  /** The checkout in which the reader of the page works. */
  folder: string;
  secrets: string;
  /** Sets what the reader writes into a file of this name. */
  write: (name: string, text: string) => Promise<void>;
}

/** Each proves a part of the page. In this order, because the page builds up one installation. */
export const SCENARIOS: Record<string, (place: Place) => Promise<string>> = {
  'production, as the page says': production,
  'the sandbox beside it': sandboxBeside,
  webhooks: webhooks,
  'the board': board,
  'what containers may do': hardening,
  'the image': image,
  'the image of the client': client,
  'memory and logs have limits': limits,
  'two workers crash': crashes,
  'PostgreSQL and Temporal restart': restarts,
  'Temporal is away': temporalAway,
  'a token is rotated': tokenRotated,
  'a mistake in belay.yaml': configuration,
  'the password of the database is changed': passwordChanged,
  'an upgrade': upgrade,
  'the engine is stopped': (place) => engineEnds(place, 'stop'),
  'the engine is killed': (place) => engineEnds(place, 'kill'),
  'everything is removed': removed,
};

async function production({ howTo, sandbox, engine }: Place): Promise<string> {
  await howTo.follow('Run it against your service');
  await howTo.follow('Run it against your service');
  assert.equal(posts(sandbox, '/v1/sites/a1/deploy').length, 1);
  await answers(engine, 'http://127.0.0.1:8080/namespaces/default/workflows');
  // Its patience with Temporal is short, and a busy machine may exceed it.
  const [worker] = await containersOf(engine, 'worker');
  const doctor = () => engine.docker('exec', worker!, 'node', 'dist/cli.js', 'doctor');
  await eventually('a doctor that finds nothing', () => doctor().catch(() => null));
  // Temporal warns of what its later versions will require.
  const [temporal] = await containersOf(engine, 'temporal');
  assert.doesNotMatch(await logOf(engine, temporal!), /Future versions/);
  return 'the first verdict is right, the UI answers, and doctor finds nothing';
}

async function sandboxBeside({ howTo, engine }: Place): Promise<string> {
  await howTo.follow('Try it with the sandbox');
  await answers(engine, 'http://127.0.0.1:8081/healthz');
  await howTo.follow('Try it with the sandbox');
  assert.deepEqual(await leftOf(engine, 'belay-sandbox'), []);
  return 'it ran with ports of its own and left nothing';
}

async function webhooks({ howTo, engine, write }: Place): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await write('webhook-secret', secret);
  await howTo.follow('Add webhooks');
  const body = JSON.stringify({ type: 'deployment.completed', site: 'a1' });
  const sign = (by: string) => {
    const [id, at] = [`msg_${randomBytes(8).toString('hex')}`, new Date()];
    const signature = new Webhook(by).sign(id, at, body);
    return {
      'webhook-id': id,
      'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
      'webhook-signature': signature,
    };
  };
  const deliver = async (by: string) => {
    const headers = Object.entries(sign(by)).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const url = 'http://127.0.0.1:4181/webhooks/panel';
    const json = ['--header', 'content-type: application/json', '--data', body];
    return curl(engine, ['--output', '/dev/null', '--write-out', '%{http_code}', ...headers, ...json, url]);
  };
  assert.equal(await deliver(secret), '202');
  assert.equal(await deliver(`whsec_${randomBytes(32).toString('base64')}`), '401');
  return 'a signed delivery is accepted, one with another signature is not';
}

async function board({ howTo, engine, write }: Place): Promise<string> {
  const secret = randomBytes(24).toString('hex');
  await write('board-secret', secret);
  await howTo.follow('Add the board');
  const url = 'http://127.0.0.1:4183/';
  assert.equal(await curl(engine, ['--output', '/dev/null', '--write-out', '%{http_code}', url]), '401');
  const asked = ['--fail', '--user', `viewer:${secret}`, url];
  await eventually('the row of a site', async () => (await curl(engine, asked)).includes('a1'));
  return 'it shows the site that was deployed, and nothing without its secret';
}

/** As a process of the container sees it. */
async function hardening({ engine, secrets }: Place): Promise<string> {
  for (const name of ['worker', 'webhooks', 'board', 'temporal', 'temporal-ui']) {
    const [container] = await containersOf(engine, name);
    const status = await engine.docker('exec', container!, 'cat', '/proc/1/status');
    const field = (key: string) => new RegExp(`^${key}:\\s+(\\S+)`, 'm').exec(status)?.[1];
    assert.deepEqual(
      [field('Uid'), field('NoNewPrivs'), Number(field('CapEff')), Number(field('CapBnd'))],
      ['1000', '1', 0, 0],
      name,
    );
    await assert.rejects(engine.docker('exec', '--user', '0', container!, 'touch', '/etc/written'), /Read-only/, name);
  }
  const [database] = await containersOf(engine, 'postgresql');
  const first = await engine.docker('exec', database!, 'cat', '/proc/1/status');
  assert.match(first, /^Uid:\s+999\s/m);
  assert.match(first, /^CapEff:\s+0+$/m);
  for (const name of ['worker', 'webhooks', 'board', 'temporal', 'temporal-ui', 'postgresql']) {
    const [container] = await containersOf(engine, name);
    const [memory, swap, pids] = (
      await engine.docker(
        'inspect',
        '--format',
        '{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}}',
        container!,
      )
    )
      .split(' ')
      .map(Number);
    assert.equal(memory, bytesOf(service(name).mem_limit!), name);
    assert.deepEqual([swap, pids], [memory, 1_024], name);
  }
  const all = (await engine.docker('ps', '--all', '--quiet')).split('\n');
  const shown = await engine.docker('inspect', ...all, 'belay-worker');
  const layers = await engine.docker('history', '--no-trunc', 'belay-worker');
  for (const name of await readdir(secrets)) {
    const secret = (await readFile(join(secrets, name), 'utf8')).trim();
    assert.ok(secret !== '' && !`${shown}${layers}`.includes(secret), name);
  }
  return 'user 1000, no capability, nothing writable, no swap, no secret in what Docker shows';
}

async function image({ engine, howTo }: Place): Promise<string> {
  const ownMb = await ownMbOf(engine, 'belay-worker');
  assert.ok(ownMb <= IMAGE_MB, `${ownMb} MB`);
  const [worker] = await containersOf(engine, 'worker');
  const cores = await engine.docker('exec', worker!, 'ls', 'node_modules/@temporalio/core-bridge/releases');
  assert.equal(cores.split('\n').length, 1, cores);
  const tools = await engine.docker('exec', worker!, 'ls', 'node_modules');
  assert.doesNotMatch(tools, /^(typescript|tsx|eslint)$/m);
  await howTo.shell('docker compose --project-name again build --no-cache worker');
  const files = await filesOf(engine, 'belay-worker');
  assert.deepEqual(await filesOf(engine, 'again-worker'), files);
  return `${ownMb.toFixed(0)} MB over its base; built again, all of its ${files.length} files are the same`;
}

/** With their hashes, but for those that the engine writes. */
async function filesOf({ docker }: Engine, image: string): Promise<string[]> {
  const list = "find / -xdev -type f ! -path '/etc/host*' ! -path /etc/resolv.conf -exec sha256sum {} +";
  const printed = await docker('run', '--rm', '--user', '0', '--entrypoint', 'sh', image, '-c', list);
  return printed.split('\n').toSorted();
}

/** Of the layers over the base of Node. */
async function ownMbOf({ docker }: Engine, image: string): Promise<number> {
  const history = await docker('history', '--human=false', '--format', '{{.Size}}\t{{.CreatedBy}}', image);
  // Its own layers come first, down to what its base ends with.
  const layers = history.split('\n').map((it) => it.split('\t') as [string, string]);
  const own = layers.findIndex(([, by]) => /CMD \["node"\]/.test(by));
  assert.ok(own > 0);
  return layers.slice(0, own).reduce((sum, [size]) => sum + Number(size), 0) / MB;
}

/** Built and used as docs/how-to/ci.md says. */
async function client({ engine, sandbox }: Place): Promise<string> {
  const packages = dirname((await writePackages()).file);
  const file = inRepository('deploy/client.Dockerfile');
  await engine.docker('build', '--file', file, '--tag', 'belay-client', packages);
  const ownMb = await ownMbOf(engine, 'belay-client');
  assert.ok(ownMb <= CLIENT_MB, `${ownMb} MB`);
  const place = ['--network', 'belay_default', '--env', 'TEMPORAL_ADDRESS=temporal:7233'];
  const confined = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
  const command = ['docker', 'run', '--rm', ...place, ...confined, 'belay-client', 'deploy'];
  const exits: (number | null)[] = [];
  for (const [before, after] of [
    ['failed', 'completed'],
    ['completed', 'failed'],
  ] as const) {
    const site = `a-${randomBytes(4).toString('hex')}`;
    sandbox.script({ site }, { durationMs: 0, ends: before }, { durationMs: 0, ends: after });
    sandbox.act({ site });
    exits.push((await patiently(() => engine.inside([...command, '--site', site, '--key', site]))).code);
  }
  assert.deepEqual(exits, [0, 1]);
  return `${ownMb.toFixed(0)} MB over its base; it exits with the verdict`;
}

async function limits({ engine, howTo }: Place): Promise<string> {
  const [worker, other] = await containersOf(engine, 'worker');
  const grow = 'const all = []; for (;;) all.push(Buffer.alloc(2 ** 25, 1))';
  await assert.rejects(
    engine.docker('exec', worker!, 'node', '-e', grow),
    ({ code }: { code: number }) => code === 137,
  );
  for (const it of [worker!, other!]) assert.equal(await stateOf(engine, it), 'running healthy 0');
  // The namespace's job has the same logging as every service.
  const job = await howTo.shell(
    "docker compose run --detach --no-deps temporal-namespace sh -c 'yes $(seq 500) | head -c 90000000'",
  );
  const id = job.trim().split('\n').at(-1)!;
  await engine.docker('wait', id);
  const folder = join(
    engine.folder,
    'data/containers',
    await engine.docker('inspect', '--format', '{{.Id}}', id),
    'local-logs',
  );
  const sizes = await Promise.all((await readdir(folder)).map((name) => stat(join(folder, name))));
  const keptMb = sizes.reduce((sum, { size }) => sum + size, 0) / MB;
  await engine.docker('rm', id);
  assert.ok(keptMb < LOG_MB, `${keptMb} MB`);
  return `what grows is killed and the worker goes on; of 90 MB of log, ${keptMb.toFixed(0)} MB are kept`;
}

async function crashes(place: Place): Promise<string> {
  const { engine } = place;
  const runs = [await inFlight(place), await inFlight(place)];
  for (const worker of await containersOf(engine, 'worker')) {
    await engine.crash(worker);
    await eventually('the crashed worker', async () => /^running \w+ 1$/.test(await stateOf(engine, worker)));
  }
  for (const run of runs) await run.completes();
  return 'both came back by themselves, two runs completed, with one request each';
}

async function restarts(place: Place): Promise<string> {
  for (const name of ['postgresql', 'temporal']) {
    const run = await inFlight(place);
    await place.howTo.shell(`docker compose restart ${name}`);
    await run.completes();
  }
  return 'a run in flight completed through each, with one request';
}

async function temporalAway(place: Place): Promise<string> {
  const { engine, howTo } = place;
  const run = await inFlight(place);
  const workers = await containersOf(engine, 'worker');
  const restarted = async () => Promise.all(workers.map(async (it) => (await stateOf(engine, it)).split(' ')[2]));
  const before = await restarted();
  await howTo.shell('docker compose stop temporal');
  for (const worker of workers) {
    await eventually('an unhealthy worker', async () => (await stateOf(engine, worker)).includes('unhealthy'));
    await eventually('its line', async () => /not ready/.test(await logOf(engine, worker)));
    assert.match(await stateOf(engine, worker), /^running unhealthy/);
  }
  await howTo.shell('docker compose start temporal');
  for (const worker of workers) {
    await eventually('a healthy worker', async () => /^running healthy/.test(await stateOf(engine, worker)));
  }
  assert.deepEqual(await restarted(), before);
  await run.completes();
  return 'workers were unhealthy, said so, and were not restarted; a run in flight completed';
}

async function tokenRotated(place: Place): Promise<string> {
  const { sandbox, secrets } = place;
  const run = await inFlight(place);
  const token = randomBytes(16).toString('hex');
  sandbox.setToken(token);
  const seen = sandbox.journal.length;
  await eventually('a rejected request', () => sandbox.journal.slice(seen).some(({ answered }) => answered === 401));
  await writeFile(join(secrets, 'api-token'), `${token}\n`);
  await run.completes();
  return 'the run in flight completed with the new token, with one request';
}

async function configuration(place: Place): Promise<string> {
  const { howTo, engine, folder } = place;
  const file = join(folder, 'deploy/belay.yaml');
  const before = await readFile(file, 'utf8');
  const workers = await containersOf(engine, 'worker');
  const nightly =
    'fleets:\n  shop:\n    servers: { s1: { sites: [a1] } }\nschedules:\n  nightly:\n    start: { backup: s1 }\n';
  await writeFile(file, `${before}\n${nightly}    crown: 30 2 * * *\n`);
  const { line, code, output } = await howTo.followToFailure('Change `belay.yaml`');
  await writeFile(file, `${before}\n${nightly}    cron: 30 2 * * *\n`);
  assert.deepEqual([line, code], ['sh deploy/replace-workers.sh', 2], output);
  assert.match(output, /belay\.yaml:\d+: schedules\.nightly\.crown/);
  assert.deepEqual(await containersOf(engine, 'worker'), workers);
  for (const worker of workers) assert.match(await stateOf(engine, worker), /^running healthy/);

  const run = await inFlight(place);
  const waiting = await howTo.shell('docker compose run --detach --no-deps --entrypoint sleep worker infinity');
  const other = waiting.trim().split('\n').at(-1)!;
  const events = await eventsDuring(engine, () => howTo.repeat('Change `belay.yaml`'));
  assert.deepEqual(events, ['die', 'healthy', 'die', 'healthy']);
  await engine.docker('exec', other, 'true');
  await engine.docker('rm', '--force', other);
  await run.completes();
  await howTo.follow('Change `belay.yaml`');
  return 'a mistake changed nothing; then the workers were replaced one after another, with a run in flight';
}

async function passwordChanged(place: Place): Promise<string> {
  const { howTo, engine, write } = place;
  const run = await inFlight(place);
  const password = randomBytes(16).toString('hex');
  await write('database-password', password);
  await howTo.follow('Change a secret');
  // Ends the connections with the old password, as an hour does.
  await howTo.shell(
    'docker compose exec --no-TTY postgresql psql --username=temporal --command="SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = \'temporal\' AND pid <> pg_backend_pid()"',
  );
  await run.completes();
  const [temporal] = await containersOf(engine, 'temporal');
  await eventually('a healthy Temporal', async () => /^running healthy/.test(await stateOf(engine, temporal!)));
  return 'Temporal connects with the new one, and a run in flight completed';
}

async function upgrade(place: Place): Promise<string> {
  const { howTo, engine, folder } = place;
  const dockerfile = join(folder, 'Dockerfile');
  await writeFile(dockerfile, `${await readFile(dockerfile, 'utf8')}LABEL release=next\n`);
  const run = await inFlight(place);
  const events = await eventsDuring(engine, () => howTo.follow('Upgrade'));
  assert.deepEqual(events, ['die', 'healthy', 'die', 'healthy']);
  for (const it of [...(await containersOf(engine, 'worker')), ...(await containersOf(engine, 'webhooks'))]) {
    assert.equal(await engine.docker('inspect', '--format', '{{.Config.Labels.release}}', it), 'next');
  }
  await run.completes();
  return 'workers one after another and the receiver have the new image, with a run in flight';
}

async function engineEnds(place: Place, how: 'stop' | 'kill'): Promise<string> {
  const { engine } = place;
  const run = await inFlight(place);
  await engine[how]();
  await engine.start();
  const beganMs = Date.now();
  const names = ['postgresql', 'temporal', 'temporal-ui', 'worker', 'webhooks', 'board'];
  const all = (await Promise.all(names.map((name) => containersOf(engine, name)))).flat();
  assert.equal(all.length, 7);
  for (const it of all) await eventually('health', async () => /^running healthy/.test(await stateOf(engine, it)));
  const tookMs = Date.now() - beganMs;
  await run.completes();
  return `all was healthy ${Math.round(tookMs / 1_000)} s after the engine was back, without a command, and the run completed`;
}

async function removed({ howTo, engine }: Place): Promise<string> {
  await howTo.follow('Remove it');
  assert.deepEqual(await leftOf(engine, 'belay'), []);
  return 'no container, network or volume is left';
}

/** A deployment that is in progress at the service, of a site of its own. */
async function inFlight({ engine, sandbox }: Place): Promise<{ completes(): Promise<void> }> {
  const site = `a-${randomBytes(4).toString('hex')}`;
  sandbox.script({ site }, { durationMs: 0, ends: 'failed' }, { words: ['building'], ends: 'never' });
  sandbox.act({ site });
  const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
  const stdout = await belay(engine, ['deploy', '--site', site, '--key', site, ...pace, '--detach', '--json']);
  const { workflowId } = JSON.parse(stdout) as RunResult;
  const sent = () => posts(sandbox, `/v1/sites/${site}/deploy`).length;
  await eventually('the request', () => sent() > 0);
  return {
    async completes() {
      sandbox.finish({ site }, 'completed');
      const verdict = JSON.parse(await belay(engine, ['wait', workflowId!, '--json'])) as RunResult;
      assert.equal(verdict.outcome, 'completed', verdict.error?.message);
      assert.equal(sent(), 1, site);
    },
  };
}

/** On the machine of the containers, as a CI runner there. @returns what it printed */
async function belay(engine: Engine, args: string[]): Promise<string> {
  const env = { ...engine.env, TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  const command = [process.execPath, CLI, ...args];
  const { code, stdout, output } = await patiently(() => engine.inside(command, { env }));
  assert.equal(code, 0, `belay ${args.join(' ')}: ${output}`);
  return stdout;
}

/** The patience of `belay` with Temporal and with workers is short, and a busy machine may exceed it. */
const patiently = <T extends { code: number | null }>(run: () => Promise<T>): Promise<T> =>
  eventually('Temporal and a worker', async () => {
    const ended = await run();
    return ended.code === EXIT_AWAY ? null : ended;
  });

async function curl(engine: Engine, args: string[]): Promise<string> {
  const { code, output } = await engine.inside(['curl', '--silent', '--show-error', ...args]);
  assert.equal(code, 0, output);
  return output;
}

const answers = (engine: Engine, url: string) => curl(engine, ['--fail', '--output', '/dev/null', url]);

/** Of production. */
async function containersOf(engine: Engine, name: string): Promise<string[]> {
  const labels = ['project=belay', `service=${name}`, 'oneoff=False'];
  const filters = labels.flatMap((it) => ['--filter', `label=com.docker.compose.${it}`]);
  return (await engine.docker('ps', '--all', '--quiet', '--no-trunc', ...filters))
    .split('\n')
    .filter(Boolean)
    .toSorted();
}

/** Such as `running healthy 0`: with the number of its restarts. */
const stateOf = (engine: Engine, container: string) =>
  engine.docker('inspect', '--format', '{{.State.Status}} {{.State.Health.Status}} {{.RestartCount}}', container);

const logOf = async (engine: Engine, container: string) =>
  (await engine.inside(['docker', 'logs', '--since', '10m', container])).output;

/** What happened to workers. */
async function eventsDuring(engine: Engine, action: () => Promise<void>): Promise<string[]> {
  const since = `${Date.now() / 1_000}`;
  await action();
  const filters = [
    'type=container',
    'label=com.docker.compose.service=worker',
    'label=com.docker.compose.oneoff=False',
  ];
  const format = '{{.Action}}';
  const args = ['--since', since, '--until', `${Date.now() / 1_000}`, '--format', format];
  const lines = await engine.docker('events', ...args, ...filters.flatMap((it) => ['--filter', it]));
  return lines.split('\n').flatMap((it) => /^(?:health_status: )?(die|healthy)$/.exec(it)?.[1] ?? []);
}

async function leftOf({ docker }: Engine, project: string): Promise<string[]> {
  const of = ['--filter', `label=com.docker.compose.project=${project}`, '--quiet'];
  const all = await Promise.all([
    docker('ps', '--all', ...of),
    docker('network', 'ls', ...of),
    docker('volume', 'ls', ...of),
  ]);
  return all.join('\n').split('\n').filter(Boolean);
}
