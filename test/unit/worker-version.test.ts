import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problemOfWorkers } from '../../src/client/workers.ts';
import { workerVersion } from '../../src/config/environment/environment.ts';
import { parseVersion, versionText } from '../../src/contract/worker-identity.ts';

const A = { deploymentName: 'prod/belay', buildId: 'a:1' };
const poller = (version: typeof A | null) => ({ identity: 'w', polledMs: 1, version });

describe('the version of a worker', () => {
  test('needs a deployment name and a build id, or neither', () => {
    const env = { TEMPORAL_DEPLOYMENT_NAME: 'prod/belay', TEMPORAL_WORKER_BUILD_ID: 'a:1' };
    assert.deepEqual(workerVersion(env), A);
    assert.equal(workerVersion({}), null);
    for (const name of ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'])
      assert.throws(() => workerVersion({ ...env, [name]: ' ' }), new RegExp(`is set without ${name}: set both`));
  });

  test('is refused if Temporal cannot tell its name from its build id', () => {
    for (const name of ['a.b', 'a:b', '__a'])
      assert.throws(
        () => workerVersion({ TEMPORAL_DEPLOYMENT_NAME: name, TEMPORAL_WORKER_BUILD_ID: '1' }),
        /TEMPORAL_DEPLOYMENT_NAME: .* cannot be the name of a deployment/,
      );
  });

  test('is read from the text that Temporal shows', () => {
    assert.deepEqual(parseVersion(versionText(A)), A);
    assert.equal(parseVersion('none'), null);
  });
});

describe('a start', () => {
  test('needs a worker of the version that gets new runs', () => {
    assert.equal(problemOfWorkers({ pollers: [poller(null)], current: [null] }, 'q'), null);
    assert.equal(problemOfWorkers({ pollers: [poller(A)], current: [A] }, 'q'), null);
    assert.equal(problemOfWorkers({ pollers: [poller(A)], current: [null, A] }, 'q'), null);
    assert.match(problemOfWorkers({ pollers: [], current: [A] }, 'q')?.message ?? '', /no worker polls/);
  });

  test('names the command that makes the polling build current', () => {
    const problem = problemOfWorkers({ pollers: [poller(A)], current: [null] }, 'q');
    assert.match(problem?.message ?? '', /no worker of the current version .* that is workers without a version/);
    assert.match(problem?.remedy ?? '', /set-current-version --deployment-name prod\/belay --build-id a:1/);
    assert.equal(problemOfWorkers({ pollers: [poller(null)], current: [A] }, 'q')?.remedy, 'start such a worker');
  });
});
