import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readableLine } from '../../src/process/log.ts';

const time = '2026-03-02T08:00:00.123Z';

test('a line of the log for people gives time, kind, reason and workflow, and leaves out what only programs need', () => {
  const failed = { level: 40, time, error: 'the deployment of site 34 failed', msg: 'Workflow failed' };
  const ofSdk = {
    namespace: 'default',
    taskQueue: 'belay',
    runId: 'r',
    workflowType: 'deployOnly',
    sdkComponent: 'worker',
  };
  assert.equal(
    readableLine({ ...failed, ...ofSdk, workflowId: 'deploy:34:k' }),
    '2026-03-02T08:00:00Z  warning: Workflow failed: the deployment of site 34 failed (workflowId deploy:34:k)',
  );
});

test('a line of the log for people stays one line, and shows every other fact', () => {
  assert.equal(
    readableLine({ level: 30, time, msg: 'took\na delivery', source: 'panel', ids: [1, 2] }),
    '2026-03-02T08:00:00Z  took a delivery (source panel, ids [1,2])',
  );
  assert.equal(
    readableLine({ level: 50, time, msg: 'no answer', err: { type: 'Error', message: 'refused' } }),
    '2026-03-02T08:00:00Z  error: no answer: refused',
  );
});
