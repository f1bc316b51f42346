/**
 * `npm run test:containers`: docker-compose.yml and the Dockerfile on a Docker engine of its own, by the commands of
 * docs/how-to/docker-compose.md. Exits 75 if a program is missing, or if this machine does not let the engine run
 * containers. `-- TEXT …` plays only the scenarios whose names contain a text, after the first one.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/config/environment/environment.ts';
import { makePrivate } from '../../src/dev/find-server.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { atEnd, endAll, endOnSignals } from '../support/at-end.ts';
import { inRepository } from '../support/compose.ts';
import { EXIT_MISSING, MissingProgram } from '../support/missing-program.ts';
import { tempFolder } from '../support/temporal.ts';
import { createEngine, HOST, requireEngine } from './engine.ts';
import { openHowTo } from './how-to.ts';
import { SCENARIOS, type Place } from './scenarios.ts';
import { prepareStandIns } from './stand-ins.ts';

/** What of earlier builds is kept. */
const BUILD_CACHE = '2GB';

const run = promisify(execFile);
const beganMs = Date.now();
const say = (line: string) =>
  void process.stdout.write(`${((Date.now() - beganMs) / 1_000).toFixed(0).padStart(5)} s  ${line}\n`);

async function main(asked: string[]): Promise<void> {
  requireEngine();
  const before = await networkOfMachine().catch((error: Error) => {
    throw new MissingProgram(`the network of this machine cannot be read: ${error.message}`);
  });
  await makePrivate(cacheFolder());
  const engine = createEngine(join(cacheFolder(), 'containers'));
  atEnd(() => engine.stop());
  await engine.start();
  say(`the engine ${await engine.docker('version', '--format', '{{.Server.Version}}')} is up`);
  await removeLeftovers(engine.docker);
  await prepareStandIns(engine, say);
  say(`Compose ${await engine.docker('compose', 'version', '--short')}`);
  const place = await settle(engine);
  const [first, ...more] = Object.entries(SCENARIOS);
  const chosen = more.filter(([name]) => asked.length === 0 || asked.some((text) => name.includes(text)));
  say(`${first![0]}: ${await first![1](place)}`);
  const failed: string[] = [];
  for (const [name, play] of chosen) {
    try {
      say(`${name}: ${await play(place)}`);
    } catch (error) {
      failed.push(name);
      say(`FAILED: ${name}: ${(error as Error).stack}`);
    }
  }
  assert.deepEqual(failed, []);
  if (asked.length === 0) assert.deepEqual(place.howTo.left, [], 'lines of the page that were not run');
  await engine.stop();
  assert.equal(await networkOfMachine(), before);
  say('the engine is down, and the network of this machine is as it was');
}

/** The reader of the page, in a checkout of their own, and the hosting service. */
async function settle(engine: Place['engine']): Promise<Place> {
  const token = randomBytes(16).toString('hex');
  const sandbox = await startSandbox({ token });
  atEnd(() => sandbox.close());
  const home = await tempFolder();
  // Its name is that of the project.
  const [folder, texts, secrets] = [join(home, 'belay'), join(home, 'texts'), join(home, 'belay-secrets')];
  for (const it of [folder, texts]) await mkdir(it);
  const copy = 'git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$1"';
  await run('sh', ['-c', copy, 'sh', folder], { cwd: inRepository('.') });
  const write = (name: string, text: string) => writeFile(join(texts, name), `${text}\n`);
  await write('api-token', token);
  await write('database-password', randomBytes(16).toString('hex'));
  // The page is about a service with https.
  await writeFile(join(folder, '.env'), 'BELAY_ALLOW_HTTP=1\n');
  const serviceUrl = `http://${HOST}:${new URL(sandbox.url).port}`;
  const howTo = await openHowTo({ engine, folder, texts, serviceUrl, say: (line) => say(`  ${line}`) });
  return { engine, howTo, sandbox, folder, secrets, write };
}

/** Of a test that was killed, and images and layers of earlier ones, which would fill the disk. */
async function removeLeftovers(docker: Place['engine']['docker']): Promise<void> {
  const containers = await docker('ps', '--all', '--quiet');
  if (containers !== '') await docker('rm', '--force', ...containers.split('\n'));
  await docker('network', 'prune', '--force');
  const volumes = await docker('volume', 'ls', '--quiet');
  if (volumes !== '') await docker('volume', 'rm', ...volumes.split('\n'));
  await docker('image', 'prune', '--force');
  await docker('builder', 'prune', '--force', '--keep-storage', BUILD_CACHE);
}

async function networkOfMachine(): Promise<string> {
  const commands = [
    ['ip', '-brief', 'link'],
    ['ip', 'netns', 'list'],
    ['iptables-save', '-t', 'filter'],
    ['iptables-save', '-t', 'nat'],
  ];
  const all = await Promise.all(commands.map(([command, ...args]) => run(command!, args)));
  return all.map(({ stdout }) => stdout.replace(/^#.*$|\[\d+:\d+\]/gm, '')).join('\n');
}

endOnSignals();

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = error instanceof MissingProgram ? EXIT_MISSING : 1;
  say(error instanceof MissingProgram ? error.message : `failed: ${(error as Error).stack}`);
} finally {
  await endAll();
}
process.exit();
