/**
 * `npm run test:all -- kubernetes`: applies deploy/kubernetes to an API server, by the commands of
 * docs/how-to/kubernetes.md. Exits 75 if etcd or Go is missing.
 */
import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { endAll, endOnSignals } from '../support/at-end.ts';
import { inRepository, read } from '../support/compose.ts';
import { manifests, one, type Manifest } from '../support/kubernetes.ts';
import { leftOut } from '../support/missing-program.ts';
import { tempFolder } from '../support/temporal.ts';
import { startCluster, type Cluster } from './cluster.ts';

const DOCUMENT = 'docs/how-to/kubernetes.md';
/** Lines that wait for pods, which need nodes. */
const NEEDS_NODES = /^kubectl -n belay (?:rollout status|exec) /;

const folder = await tempFolder();
let cluster: Cluster;
try {
  cluster = await startCluster(folder);
} catch (error) {
  await endAll();
  process.exit(leftOut(error));
}

after(endAll);
endOnSignals();

async function succeed(line: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.shell(line, { cwd: folder, input });
  assert.deepEqual([code, stderr], [0, ''], `${line}\n${stdout}${stderr}`);
  return stdout;
}

const lines = read(DOCUMENT)
  .match(/^ *kubectl .+$/gm)!
  .map((line) => line.trim());

test('the commands of the page make every object, without a warning, and would change nothing the next time', async () => {
  assert.ok(read(DOCUMENT).includes(cluster.version), cluster.version);
  await symlink(inRepository('deploy'), join(folder, 'deploy'));
  for (const name of ['api-token', 'webhook-secret', 'board-secret']) await writeFile(join(folder, name), 'secret\n');
  const here = lines.filter((line) => !NEEDS_NODES.test(line));
  assert.deepEqual([here.length, lines.length], [5, 7]);
  for (const line of here) await succeed(line);
  for (const { kind, metadata } of manifests) await succeed(`kubectl -n belay get ${kind} ${metadata.name}`);
  // Unlike `apply`, it calls nothing changed that the server fills in.
  await succeed('kubectl diff -k deploy/kubernetes');
});

/** As a controller would make it of a Deployment. */
async function podOf(name: string): Promise<{ spec: { containers: [{ securityContext: object }] } }> {
  const deployment = await succeed(`kubectl -n belay get deployment belay-${name} -o json`);
  const { spec } = JSON.parse(deployment) as { spec: { template: { metadata: object } } };
  const { metadata, ...pod } = spec.template;
  return { apiVersion: 'v1', kind: 'Pod', ...pod, metadata: { ...metadata, name } } as never;
}

const create = (object: object) =>
  cluster.shell('kubectl -n belay create --dry-run=server -f -', { cwd: folder, input: JSON.stringify(object) });

for (const name of ['worker', 'webhooks', 'board']) {
  test(`the namespace admits a pod of the ${name}, and none with more rights`, async () => {
    const pod = await podOf(name);
    assert.deepEqual(await create(pod), { code: 0, stdout: `pod/${name} created (server dry run)\n`, stderr: '' });
    pod.spec.containers[0].securityContext = {};
    const { code, stderr } = await create(pod);
    assert.equal(code, 1);
    assert.match(stderr, /violates PodSecurity "restricted:latest"/);
  });
}

test('the Worker Controller gets the config maps by their generated names, and no Deployment is left beside it', async () => {
  await succeed(
    'cp -r deploy/kubernetes controlled && sed -i "s/^# components:/components:/" controlled/kustomization.yaml',
  );
  const built = parseAllDocuments(await succeed('kubectl kustomize controlled')).map((it) => it.toJS() as Manifest);
  const names = built.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  assert.ok(!names.includes('Deployment belay-worker'), names.join());
  const worker = JSON.stringify(built.find(({ kind }) => kind === 'WorkerDeployment'));
  for (const map of ['belay-config', 'belay-service']) {
    const generated = names.find((it) => it.startsWith(`ConfigMap ${map}-`))!.split(' ')[1];
    assert.ok(worker.includes(`"${generated}"`), worker);
  }
});

test('the server refuses a key that Kubernetes does not know', async () => {
  const worker = one('Deployment', 'belay-worker');
  const { code, stderr } = await create({ ...worker, spec: { ...worker.spec, replica: 2 } });
  assert.equal(code, 1);
  assert.match(stderr, /unknown field "spec\.replica"/);
});
