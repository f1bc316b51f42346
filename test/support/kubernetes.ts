/** The manifests in deploy/kubernetes. */
import { readdirSync } from 'node:fs';
import { parseAllDocuments, parse } from 'yaml';
import { read } from './compose.ts';

export const FOLDER = 'deploy/kubernetes';

export type Labels = Record<string, string>;

export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
}

interface Container {
  name: string;
  image: string;
  args?: string[];
  envFrom: { configMapRef: { name: string } }[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
  securityContext: object;
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface Volume {
  name: string;
  emptyDir?: { sizeLimit: string };
  configMap?: { name: string };
  secret?: { secretName: string; defaultMode: number };
}

interface PodTemplate {
  metadata: { labels: Labels };
  spec: {
    serviceAccountName: string;
    automountServiceAccountToken: boolean;
    terminationGracePeriodSeconds: number;
    securityContext: object;
    containers: [Container];
    volumes: Volume[];
  };
}

interface Port {
  port: number;
  protocol: string;
}

/** The fields that the tests read. The library that validates the manifests knows all. */
interface Specs {
  Deployment: {
    replicas: number;
    strategy: { rollingUpdate: object };
    selector: { matchLabels: Labels };
    template: PodTemplate;
  };
  WorkerDeployment: { template: PodTemplate; workerOptions: { connectionRef: { name: string } } };
  Connection: { hostPort: string };
  PodDisruptionBudget: { minAvailable: number; unhealthyPodEvictionPolicy: string; selector: { matchLabels: Labels } };
  NetworkPolicy: {
    podSelector: { matchLabels?: Labels };
    policyTypes: string[];
    ingress?: { from: unknown[]; ports: Port[] }[];
    egress?: { to?: unknown[]; ports: Port[] }[];
  };
  Service: { selector: Labels; ports: { name: string; port: number; targetPort: string }[] };
  Ingress: {
    rules: { http: { paths: { path: string; backend: { service: { name: string; port: { name: string } } } }[] } }[];
  };
}

export interface Manifest<Spec = unknown> {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Labels };
  spec: Spec;
}

interface Kustomization {
  namespace: string;
  resources: string[];
  images: { name: string; newName: string; newTag: string }[];
  configMapGenerator: { name: string; files?: string[]; literals?: string[] }[];
}

export const kustomization = parse(read(`${FOLDER}/kustomization.yaml`)) as Kustomization;
export const component = parse(read(`${FOLDER}/worker-controller/kustomization.yaml`)) as Pick<
  Kustomization,
  'resources'
>;

const manifestsIn = (file: string): Manifest[] =>
  parseAllDocuments(read(`${FOLDER}/${file}`)).map((it) => it.toJS() as Manifest);

/** Those that kustomize applies. */
export const manifests = kustomization.resources.flatMap(manifestsIn);
const ofController = component.resources.flatMap((file) => manifestsIn(`worker-controller/${file}`));

/** Every YAML file of the folder, without those of the Worker Controller. */
export const files = readdirSync(new URL(`../../${FOLDER}`, import.meta.url)).filter((name) => name.endsWith('.yaml'));

export function all<K extends keyof Specs>(kind: K): Manifest<Specs[K]>[] {
  return [...manifests, ...ofController].filter((it) => it.kind === kind) as Manifest<Specs[K]>[];
}

export function one<K extends keyof Specs>(kind: K, name: string): Manifest<Specs[K]> {
  const found = all(kind).find((it) => it.metadata.name === name);
  if (found === undefined) throw new Error(`${FOLDER} has no ${kind} ${name}`);
  return found;
}

/** What a container gets from its manifest and from the generated config maps. */
export function environmentOf({ env, envFrom }: Container): Record<string, string> {
  const literals = envFrom.flatMap(({ configMapRef }) => {
    const map = kustomization.configMapGenerator.find(({ name }) => name === configMapRef.name);
    if (map?.literals === undefined) throw new Error(`no config map ${configMapRef.name} with variables`);
    return map.literals.map((it) => it.split(/=(.*)/s) as [string, string]);
  });
  return Object.fromEntries([...literals, ...env.map(({ name, value }) => [name, value] as const)]);
}
