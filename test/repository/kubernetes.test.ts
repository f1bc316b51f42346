/** The manifests in deploy/kubernetes fit together, and with the code and docker-compose.yml. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VARIABLES } from '../../src/config/environment/variables.ts';
import { readConfiguration } from '../../src/config/load.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { bytesOf, heapOf, inRepository, read, routesIn, service, versionOf } from '../support/compose.ts';
import {
  all,
  component,
  environmentOf,
  files,
  FOLDER,
  kustomization,
  one,
  type Labels,
  type Probe,
} from '../support/kubernetes.ts';

const PROGRAMS = [
  { name: 'worker', folder: 'src/worker', port: 'metrics', ready: '/readyz' },
  { name: 'webhooks', folder: 'src/webhooks', port: 'http', ready: '/healthz' },
] as const;

const HTTPS = 443;
const [DNS, PORT_OF_TEMPORAL] = [53, 7233];

const podOf = (name: string) => one('Deployment', `belay-${name}`).spec.template;
const containerOf = (name: string) => podOf(name).spec.containers[0];
const document = read('docs/how-to/kubernetes.md');

const matches = (selector: Labels, labels: Labels) =>
  Object.keys(selector).length > 0 && Object.entries(selector).every(([key, value]) => labels[key] === value);

test('the kustomization lists every manifest', () => {
  assert.deepEqual(
    files.filter((name) => !['kustomization.yaml', 'belay.yaml'].includes(name)).toSorted(),
    kustomization.resources.toSorted(),
  );
  assert.deepEqual(component.resources, ['worker-deployment.yaml']);
});

test("the image has the package's version", () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.deepEqual(
    kustomization.images.map(({ name, newTag }) => [name, newTag]),
    [['belay', version]],
  );
  for (const { name } of PROGRAMS) assert.equal(containerOf(name).image, 'belay');
});

test('the document names the version of Temporal in docker-compose.yml', () => {
  assert.ok(document.includes(`Temporal ${versionOf('temporal')}`));
});

for (const { name, folder, port, ready } of PROGRAMS) {
  test(`the ${name} gets what it gets in docker-compose.yml`, () => {
    const { resources, args } = containerOf(name);
    const composed = service(name);
    const environment = environmentOf(containerOf(name));
    assert.equal(environment.NODE_OPTIONS, composed.environment.NODE_OPTIONS);
    assert.equal(environment.BELAY_METRICS_ADDRESS, composed.environment.BELAY_METRICS_ADDRESS);
    assert.deepEqual(args, composed.command);
    assert.equal(bytesOf(resources.limits.memory!), bytesOf(composed.mem_limit!));
    // What compose sets, or a value that only compose needs.
    const missing = Object.keys(composed.environment).filter((variable) => !(variable in environment));
    assert.deepEqual(missing, name === 'worker' ? ['BELAY_ALLOW_HTTP'] : []);
  });

  test(`the ${name} has only variables that Belay or Node reads`, () => {
    const known: string[] = ['NODE_OPTIONS', ...VARIABLES.map((it) => it.name)];
    assert.deepEqual(
      Object.keys(environmentOf(containerOf(name))).filter((variable) => !known.includes(variable)),
      [],
    );
  });

  test(`the memory of the ${name} is requested, above its heap, and its processor time has no limit`, () => {
    const { requests, limits } = containerOf(name).resources;
    assert.deepEqual(Object.keys(limits), ['memory']);
    assert.equal(requests.memory, limits.memory);
    assert.ok(heapOf(environmentOf(containerOf(name))) <= bytesOf(limits.memory!) / 2);
  });

  test(`the probes of the ${name} ask paths that it serves, on its port`, () => {
    const { startupProbe, livenessProbe, readinessProbe, ports } = containerOf(name);
    const routes = routesIn(folder);
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      assert.ok(routes.includes(httpGet.path), httpGet.path);
      assert.equal(httpGet.port, port);
    }
    // Whether the process lives depends on nothing outside of it.
    assert.deepEqual(
      [startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path),
      ['/healthz', '/healthz'],
    );
    assert.equal(readinessProbe.httpGet.path, ready);
    const environment = environmentOf(containerOf(name));
    const listens = environment.BELAY_METRICS_ADDRESS?.split(':')[1] ?? containerOf(name).args?.at(-1);
    assert.deepEqual(
      ports.map((it) => [it.name, String(it.containerPort)]),
      [[port, listens]],
    );
  });

  test(`a busy ${name} is not restarted, and one that hangs is`, () => {
    const patienceMs = ({ periodSeconds, failureThreshold = 3 }: Probe) => periodSeconds * failureThreshold * 1_000;
    const { startupProbe, livenessProbe } = containerOf(name);
    // A task with thousands of signals may take the SDK's limit of a minute.
    assert.ok(patienceMs(livenessProbe) > 60_000);
    assert.ok(patienceMs(livenessProbe) <= 300_000);
    assert.ok(patienceMs(startupProbe) >= 60_000);
  });

  test(`the ${name} gets more time to stop than it uses`, () => {
    const { terminationGracePeriodSeconds } = podOf(name).spec;
    const pauseS = Number(containerOf(name).lifecycle?.preStop.exec.command[1] ?? 0);
    const stopMs = name === 'worker' ? TIMING.worker.shutdownGraceMs : TIMING.webhooks.requestMs;
    assert.ok((terminationGracePeriodSeconds - pauseS) * 1_000 > stopMs);
  });

  test(`a rollout of the ${name} begins with a new pod, and a drained node leaves one`, () => {
    const { replicas, strategy, selector, template } = one('Deployment', `belay-${name}`).spec;
    assert.deepEqual(strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
    assert.deepEqual(selector.matchLabels, template.metadata.labels);
    const budget = one('PodDisruptionBudget', `belay-${name}`).spec;
    assert.deepEqual(budget.selector.matchLabels, selector.matchLabels);
    // Otherwise no node could ever be drained.
    assert.ok(budget.minAvailable >= 1 && budget.minAvailable < replicas);
    // Nor while the pods are not ready, as all workers are while Temporal or the service is away.
    assert.equal(budget.unhealthyPodEvictionPolicy, 'AlwaysAllow');
  });

  test(`the ${name} is confined as the restricted profile demands, and writes only to its temporary folder`, () => {
    const { spec } = podOf(name);
    assert.deepEqual(spec.securityContext, {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.match(read('Dockerfile'), /^USER 1000$/m);
    const { securityContext, volumeMounts } = containerOf(name);
    assert.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(spec.automountServiceAccountToken, false);
    const writable = volumeMounts.filter(({ readOnly = false }) => !readOnly);
    assert.deepEqual(writable, [{ name: 'tmp', mountPath: '/tmp' }]);
    assert.ok(spec.volumes.some((volume) => volume.name === 'tmp' && volume.emptyDir !== undefined));
  });

  test(`the document creates the secrets that the ${name} mounts`, () => {
    const { volumes } = podOf(name).spec;
    const secrets = volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    assert.equal(secrets.length, 1);
    for (const secret of secrets) assert.ok(document.includes(`create secret generic ${secret} `), secret);
  });
}

test('every mounted file is where Belay looks for it', async () => {
  const mounted = (name: string, secret: string) => {
    const volume = podOf(name).spec.volumes.find((it) => it.secret?.secretName === secret);
    const folder = containerOf(name).volumeMounts.find((it) => it.name === volume?.name)?.mountPath;
    const [, key] = new RegExp(`generic ${secret} .*--from-file=(\\w+)=`).exec(document) ?? [];
    return `${folder}/${key}`;
  };
  const worker = environmentOf(containerOf('worker'));
  assert.equal(worker.BELAY_API_TOKEN_FILE, mounted('worker', 'belay-api-token'));
  const { events } = await readConfiguration({ path: inRepository(`${FOLDER}/belay.yaml`), isNamed: true });
  assert.deepEqual(
    Object.values(events?.sources ?? {}).flatMap((source) => ('secrets' in source ? source.secrets : [])),
    [{ file: mounted('webhooks', 'belay-webhooks') }],
  );
  for (const { name } of PROGRAMS) {
    const config = containerOf(name).volumeMounts.find((it) => it.name === 'config')?.mountPath;
    assert.equal(environmentOf(containerOf(name)).BELAY_CONFIG, `${config}/belay.yaml`);
    const { configMap } = podOf(name).spec.volumes.find((it) => it.name === 'config')!;
    const generated = kustomization.configMapGenerator.find((it) => it.name === configMap?.name);
    assert.deepEqual(generated?.files, ['belay.yaml']);
  }
});

test('no manifest contains a secret', () => {
  const kinds = [...kustomization.resources, ...component.resources.map((file) => `worker-controller/${file}`)];
  for (const file of kinds) assert.doesNotMatch(read(`${FOLDER}/${file}`), /kind: Secret\b/, file);
  assert.doesNotMatch(JSON.stringify(kustomization), /TOKEN=|API_KEY=|secretGenerator/);
});

test('only webhooks reach the receiver from outside', () => {
  const [rule] = one('Ingress', 'belay-webhooks').spec.rules;
  assert.deepEqual(
    rule?.http.paths.map(({ path }) => path),
    ['/webhooks/'],
  );
  const { service: backend } = rule.http.paths[0]!.backend;
  const { selector, ports } = one('Service', backend.name).spec;
  assert.ok(matches(selector, podOf('webhooks').metadata.labels));
  assert.ok(!matches(selector, podOf('worker').metadata.labels));
  const [port] = ports;
  assert.deepEqual([port?.name, port?.targetPort], [backend.port.name, containerOf('webhooks').ports[0]?.name]);
});

test('the network policies allow exactly the ports in use', () => {
  const reach = (name: string) => {
    const policies = all('NetworkPolicy')
      .map(({ spec }) => spec)
      .filter(({ podSelector: { matchLabels } }) => {
        return matchLabels === undefined || matches(matchLabels, podOf(name).metadata.labels);
      });
    assert.ok(policies.some(({ policyTypes }) => policyTypes.includes('Egress') && policyTypes.includes('Ingress')));
    const portsOf = (rules: { ports: { port: number }[] }[]) =>
      [...new Set(rules.flatMap(({ ports }) => ports.map(({ port }) => port)))].toSorted((a, b) => a - b);
    return {
      in: portsOf(policies.flatMap(({ ingress = [] }) => ingress)),
      out: portsOf(policies.flatMap(({ egress = [] }) => egress)),
    };
  };
  const [worker, webhooks] = [containerOf('worker'), containerOf('webhooks')];
  assert.deepEqual(reach('worker'), { in: [worker.ports[0]?.containerPort], out: [DNS, HTTPS, PORT_OF_TEMPORAL] });
  const board = containerOf('board');
  assert.deepEqual(reach('board'), { in: [board.ports[0]?.containerPort], out: [DNS, PORT_OF_TEMPORAL] });
  assert.deepEqual(reach('webhooks'), { in: [webhooks.ports[0]?.containerPort], out: [DNS, PORT_OF_TEMPORAL] });
  const { TEMPORAL_ADDRESS, BELAY_API_URL } = environmentOf(worker);
  assert.ok(TEMPORAL_ADDRESS?.endsWith(`:${PORT_OF_TEMPORAL}`));
  assert.deepEqual([new URL(BELAY_API_URL!).protocol, new URL(BELAY_API_URL!).port], ['https:', '']);
});

test('the board gets what it gets in docker-compose.yml, asks for its secret, and is reached on its port only', () => {
  const [board, composed] = [containerOf('board'), service('board')];
  const place = (args: string[] = []) =>
    args.map((it) => it.replace('/run/secrets/board-secret', '/run/secrets/board/secret'));
  assert.deepEqual(board.args, place(composed.command));
  const environment = environmentOf(board);
  assert.deepEqual(
    Object.keys(composed.environment).filter((it) => !(it in environment)),
    [],
  );
  assert.ok(!('BELAY_API_TOKEN_FILE' in environment));
  assert.ok(heapOf(environment) <= bytesOf(board.resources.limits.memory!) / 2);
  assert.deepEqual(board.securityContext, containerOf('webhooks').securityContext);
  assert.deepEqual(podOf('board').spec.securityContext, podOf('webhooks').spec.securityContext);
  const mounted = board.volumeMounts.find((it) => it.name === 'secrets');
  assert.deepEqual(mounted, { name: 'secrets', mountPath: '/run/secrets/board', readOnly: true });
  assert.match(document, /create secret generic belay-board --from-file=secret=/);
  for (const probe of [board.startupProbe, board.livenessProbe, board.readinessProbe])
    assert.deepEqual(probe.httpGet, { path: '/healthz', port: 'http' });
  const { selector, ports } = one('Service', 'belay-board').spec;
  assert.ok(matches(selector, podOf('board').metadata.labels) && !matches(selector, podOf('worker').metadata.labels));
  assert.equal(ports[0]?.targetPort, board.ports[0]?.name);
});

test('the Worker Controller runs the pods of the worker deployment, at the same Temporal', () => {
  const { template, workerOptions } = one('WorkerDeployment', 'belay-worker').spec;
  const pod = structuredClone(podOf('worker'));
  const [container] = pod.spec.containers;
  // The controller sets these variables itself.
  container.envFrom = container.envFrom.filter(({ configMapRef }) => configMapRef.name !== 'belay-temporal');
  assert.deepEqual(template, pod);
  const { spec } = one('Connection', workerOptions.connectionRef.name);
  assert.equal(spec.hostPort, environmentOf(containerOf('worker')).TEMPORAL_ADDRESS);
});
