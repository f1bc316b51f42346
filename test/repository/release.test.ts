import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { releaseProblems, type Release } from '../../tools/check-release.ts';
import { ROOT } from '../support/readme.ts';

const URL_IN_MANIFEST = 'git+https://git.example/team/belay.git';

const READY: Release = {
  tag: 'v1.2.3',
  source: 'https://git.example/team/belay',
  manifest: {
    version: '1.2.3',
    repository: { type: 'git', url: URL_IN_MANIFEST },
    bugs: 'https://git.example/team/belay/issues',
  },
  lock: { version: '1.2.3' },
  changelog: '# Changelog\n\n## [1.2.3] - 2027-01-31\n\n- A change\n\n## [1.2.2] - 2027-01-01\n',
  printed: '1.2.3',
};

test('a release is ready if the tag, package, lock file, changelog and program have one version', () => {
  assert.deepEqual(releaseProblems(READY), []);
  assert.deepEqual(releaseProblems({ ...READY, changelog: '## 1.2.3 - 2027-01-31\n' }), []);
});

test('a release is not ready without a repository, from another one, or while the package is private', () => {
  const { manifest, source } = READY;
  const problems = (change: object) => releaseProblems({ ...READY, manifest: { ...manifest, ...change } });
  const missing = 'package.json: "repository" is missing: set it to the URL of the repository that publishes';
  assert.deepEqual(problems({ repository: undefined }), [missing]);
  assert.deepEqual(problems({ repository: { type: 'git', url: '' } }), [missing]);
  assert.deepEqual(problems({ repository: 'https://git.example/fork/belay' }), [
    `package.json: "repository" is https://git.example/fork/belay, but this is ${source}: npm would reject the provenance`,
  ]);
  assert.deepEqual(problems({ bugs: {} }), [
    'package.json: "bugs" is missing: set it to the URL where users report problems',
  ]);
  assert.deepEqual(problems({ private: true }), ['package.json: "private" forbids to publish: remove it']);
});

const OTHER: [name: string, change: Partial<Release>][] = [
  ['the tag', { tag: 'v1.2.4' }],
  ['package-lock.json', { lock: { version: '1.2.4' } }],
  ['the first heading of CHANGELOG.md', { changelog: '## 1.2.4 - 2027-01-31\n\n## 1.2.3 - 2027-01-30\n' }],
  ['`belay --version`', { printed: '1.2.4' }],
];
for (const [name, change] of OTHER) {
  test(`a release is not ready if the version of ${name} is another one`, () => {
    assert.deepEqual(releaseProblems({ ...READY, ...change }), [
      `${name} is 1.2.4, but package.json has 1.2.3: give both the same version`,
    ]);
  });
}

test('a release is not ready while its changes are unreleased or have no date, or if its tag has no "v"', () => {
  assert.deepEqual(releaseProblems({ ...READY, changelog: '## Unreleased\n\n- More.\n\n## 1.2.3 - 2027-01-31\n' }), [
    'the first heading of CHANGELOG.md is Unreleased, but package.json has 1.2.3: give both the same version',
  ]);
  assert.deepEqual(releaseProblems({ ...READY, changelog: '## 1.2.3\n' }), [
    'CHANGELOG.md: 1.2.3 has no date: write "## 1.2.3 - YYYY-MM-DD"',
  ]);
  assert.deepEqual(releaseProblems({ ...READY, tag: '1.2.3' }), ['the tag is 1.2.3: name it v1.2.3']);
});

test('an empty section of unreleased changes holds no release back', () => {
  assert.deepEqual(releaseProblems({ ...READY, changelog: '## Unreleased\n\n## 1.2.3 - 2027-01-31\n' }), []);
});

test('the check reads this package, and exits 1 with one line per problem', async () => {
  const args = ['--import', './tools/typescript.js', 'tools/check-release.ts', '--tag', 'v0.0.0-other'];
  const checked = promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(ROOT) });
  const { code, stderr } = (await checked.catch((it: unknown) => it)) as { code: number; stderr: string };
  assert.equal(code, 1);
  assert.match(stderr, /^not ready to publish: the tag is 0\.0\.0-other, but package\.json has /m);
  // The program prints the version of the package, or this would be another line.
  assert.doesNotMatch(stderr, /belay --version|package-lock/);
});
