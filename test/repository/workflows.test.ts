/** Rules for .github/workflows: what may be interpolated, and who may publish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORKFLOWS, type Job } from '../support/workflows.ts';

const JOBS = Object.entries(WORKFLOWS).flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ name: `${file}: ${name}`, job })),
);
const { permissions, jobs } = WORKFLOWS['release.yml']!;

/** The jobs that must have succeeded before this one starts. */
function neededBy({ needs = [] }: Job): string[] {
  const direct = [needs].flat();
  return direct.flatMap((name) => [name, ...neededBy(jobs[name]!)]);
}

const commandsOf = ({ steps }: Job): string => steps.map(({ run = '' }) => run).join('\n');

test('no workflow interpolates an expression into a script', () => {
  assert.ok(JOBS.length >= 5);
  for (const { name, job } of JOBS) assert.doesNotMatch(commandsOf(job), /\$\{\{/, name);
});

test('every action of another repository has a version tag or a full SHA', () => {
  for (const { name, job } of JOBS) {
    for (const { uses } of job.steps) if (uses !== undefined) assert.match(uses, /^\.\/|@(v\d+|[\da-f]{40})$/, name);
  }
});

test('a release grants no permission by default, and an id token only to the job that publishes the package', () => {
  assert.deepEqual(permissions, {});
  for (const [name, { permissions: granted }] of Object.entries(jobs)) {
    assert.ok(granted, `${name} inherits the permissions of the workflow`);
    assert.equal(granted['id-token'], name === 'publish' ? 'write' : undefined, name);
  }
  assert.deepEqual(jobs.publish?.permissions, { 'id-token': 'write' });
});

test('nothing is published before the release is checked, audited, and tested without install scripts', () => {
  const [check, install] = [commandsOf(jobs.package!), commandsOf(jobs.test!)];
  assert.match(check, /tsx tools\/check-release\.ts --tag "\$TAG" --source "\$SOURCE"/);
  assert.match(check, /npm audit --omit dev --audit-level=high/);
  for (const name of ['belay-deploy', 'belay-cli'])
    assert.match(install, new RegExp(`npm install .*--ignore-scripts \\./${name}-\\*\\.tgz`));
  const publishing = Object.entries(jobs).filter(([, job]) => Object.values(job.permissions!).includes('write'));
  assert.deepEqual(
    publishing.map(([name]) => name),
    ['publish', 'image', 'action', 'announce'],
  );
  for (const [name, job] of publishing) {
    for (const needed of ['package', 'test']) assert.ok(neededBy(job).includes(needed), `${name} needs ${needed}`);
  }
});

test('the job that publishes the packages neither checks out code nor builds: it publishes the tested tarballs', () => {
  const { steps } = jobs.publish!;
  const uses = steps.flatMap(({ uses: it }) => it?.split('@')[0] ?? []);
  assert.deepEqual(uses, ['actions/setup-node', 'actions/download-artifact']);
  assert.deepEqual(
    steps.flatMap(({ run }) => run ?? []),
    ['npm publish --ignore-scripts ./belay-deploy-*.tgz', 'npm publish --ignore-scripts ./belay-cli-*.tgz'],
  );
});

test('a release uses no cache, which a pull request may have filled', () => {
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const setups = steps.filter(({ uses }) => uses?.startsWith('actions/setup-node@'));
  assert.ok(setups.length >= 3);
  for (const { with: given } of setups) assert.equal(given?.['package-manager-cache'], false);
  for (const { uses = '', with: given = {} } of steps) {
    assert.doesNotMatch(uses, /^actions\/cache@/);
    assert.ok(!('cache' in given) && !('cache-from' in given), uses);
  }
});

test('the image is built for both platforms, with full provenance and an SBOM', () => {
  const build = jobs.image?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  assert.deepEqual(
    { ...build?.with, tags: '', labels: '' },
    {
      context: '.',
      platforms: 'linux/amd64,linux/arm64',
      tags: '',
      labels: '',
      push: true,
      provenance: 'mode=max',
      sbom: true,
    },
  );
});
