/** The manifests are valid for Kubernetes: the values by the library's schemas, unknown fields by its types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import ts from 'typescript';
import { inRepository } from '../support/compose.ts';
import { manifests, one, type Manifest } from '../support/kubernetes.ts';

interface Model {
  validate(): void;
}

const MODELS: Record<string, new (data: never) => Model> = {
  'apps/v1/Deployment': Deployment,
  'v1/Namespace': Namespace,
  'v1/Service': Service,
  'v1/ServiceAccount': ServiceAccount,
  'networking.k8s.io/v1/Ingress': Ingress,
  'networking.k8s.io/v1/NetworkPolicy': NetworkPolicy,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
};

const kindOf = ({ apiVersion, kind }: Manifest) => `${apiVersion}/${kind}`;

/** A program that assigns each manifest to the library's type. Excess properties are errors, at any depth. */
function programOf(checked: readonly Manifest[]): string {
  return checked
    .map((it, index) => {
      const type = `import('kubernetes-models/${kindOf(it)}').I${it.kind}`;
      return `export const manifest${index}: ${type} = ${JSON.stringify(it)};`;
    })
    .join('\n');
}

/** @returns the errors of a program that is in no file */
function typeErrors(text: string): string[] {
  const name = inRepository('test/repository/manifests.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const fromDisk = host.getSourceFile.bind(host);
  host.getSourceFile = (file, version, ...rest) =>
    file === name ? ts.createSourceFile(file, text, version) : fromDisk(file, version, ...rest);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host));
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('every manifest has values that Kubernetes accepts', () => {
  assert.ok(manifests.length >= 11);
  for (const manifest of manifests) {
    const Checked = MODELS[kindOf(manifest)];
    assert.ok(Checked, `no model for ${kindOf(manifest)}`);
    new Checked(manifest as never).validate();
  }
});

test('no manifest has a field that Kubernetes does not know', () => {
  assert.deepEqual(typeErrors(programOf(manifests)), []);
});

test('the checks notice a wrong value and an unknown field', () => {
  const { spec, ...worker } = one('Deployment', 'belay-worker');
  const replicas = { ...worker, spec: { ...spec, replicas: 'two' } };
  assert.throws(() => new Deployment(replicas as never).validate(), /replicas/);
  const [error, ...others] = typeErrors(programOf([{ ...worker, spec: { ...spec, replica: 2 } }]));
  assert.match(error ?? '', /"replica"' does not exist/);
  assert.deepEqual(others, []);
});
