import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  MAX_WORKFLOW_ID_BYTES,
  backupServerId,
  deploySiteId,
  lockIdOf,
  runWorkflowId,
} from '../../src/contract/ids.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { planRun } from '../../src/request/run-options.ts';
import { problemOfId } from '../../src/request/problems.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';
import { codeSpan, plainText, shellWord } from '../../src/contract/safe-text.ts';

test('the parts of a workflow id are encoded separately', () => {
  assert.equal(
    runWorkflowId('backupThenDeploy', { serverId: 's:1', siteIds: ['a'] }, 'k/1'),
    'backup-then-deploy:s%3A1:k%2F1',
  );
  assert.equal(runWorkflowId('deployOnly', { siteIds: ['a1', 'a2'] }, 'k'), 'deploy:a1:k');
  assert.equal(backupServerId('s1'), 'backup-server:s1');
  assert.equal(deploySiteId('ä'), 'deploy-site:%C3%A4');
});

test('the workflow ids of an app name it as one, so that a site with its id has others', () => {
  const input = { targets: [appTarget('b:1'), siteTarget('a1')] };
  assert.equal(runWorkflowId('deployOnly', input, 'k'), 'deploy:app:b%3A1:k');
  assert.equal(runWorkflowId('watchDeployment', input, 'k'), 'watch:app:b%3A1:k');
  assert.equal(lockIdOf(appTarget('b:1')), 'deploy-app:b%3A1');
  assert.notEqual(runWorkflowId('deployOnly', { siteIds: ['app'] }, 'b:1:k'), runWorkflowId('deployOnly', input, 'k'));
});

test('property: workflow ids have at most 200 bytes and differ', () => {
  const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).filter((text) => problemOfId(text) === null);
  fc.assert(
    fc.property(id, id, (one, other) => {
      const made = deploySiteId(one);
      assert.ok(Buffer.byteLength(made) <= MAX_WORKFLOW_ID_BYTES);
      assert.equal(made === deploySiteId(other), one === other);
    }),
  );
});

test('the defaults match the documented ones', () => {
  const plan = planRun({ serverId: 's1', siteIds: ['a1'] });
  assert.deepEqual(plan.backup, {
    intervalMs: 15_000,
    tries: 20,
    maxAgeMs: null,
    maxAgeAtDeployMs: 24 * 3_600_000,
    backupId: null,
  });
  assert.deepEqual(
    [plan.deploy.intervalMs, plan.deploy.tries, plan.deploy.settleMs, plan.deploy.baselineWaitMs],
    [10_000, 30, 60_000, 300_000],
  );
});

test('the settle time is never under ten seconds', () => {
  assert.equal(planRun({ siteIds: ['a'], deploy: { intervalMs: 100 } }).deploy.settleMs, 10_000);
  assert.equal(planRun({ siteIds: ['a'], deploy: { settleMs: 1 } }).deploy.settleMs, 10_000);
});

const notes = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x'.repeat(200)]));

test('notes within the limits are accepted', () => {
  assert.equal(validateRunInput('backupThenDeploy', { serverId: 's', siteIds: ['a'], meta: notes(20) }), null);
});

const WRONG: [what: string, input: unknown, said: RegExp][] = [
  ['no object', null, /not an object/],
  ['no sites', { serverId: 's' }, /siteIds: is missing/],
  ['an empty list', { serverId: 's', siteIds: [] }, /siteIds: is empty/],
  ['an empty list of targets', { serverId: 's', targets: [] }, /targets: is empty, backupThenDeploy needs a target/],
  ['sites and targets', { serverId: 's', siteIds: ['a'], targets: [] }, /targets: is given beside siteIds/],
  ['no kind', { serverId: 's', targets: [{ id: 'a' }] }, /targets\[0\]\.kind: must be one of site, app/],
  ['no id', { serverId: 's', targets: [{ kind: 'app' }] }, /targets\[0\]\.id: is not a string/],
  ['a target with more fields', { serverId: 's', targets: [{ ...appTarget('b'), path: '/' }] }, /path: is not a field/],
  ['an app twice', { serverId: 's', targets: [appTarget('b'), appTarget('b')] }, /targets\[1\]: names the app b twice/],
  ['no server', { siteIds: ['a'] }, /serverId: is missing/],
  ['an empty id', { serverId: '', siteIds: ['a'] }, /serverId: is empty/],
  ['two dots', { serverId: 's', siteIds: ['a', '..'] }, /siteIds\[1\]: must not be "\.\."/],
  ['a site twice', { serverId: 's', siteIds: ['a', 'b', 'a'] }, /siteIds\[2\]: names the site a twice/],
  ['a control character', { serverId: 's\n', siteIds: ['a'] }, /serverId: has control characters/],
  ['half a character', { serverId: '\ud800', siteIds: ['a'] }, /serverId: is not well-formed/],
  ['a long id', { serverId: 'x'.repeat(201), siteIds: ['a'] }, /serverId: has 201 characters/],
  ['no tries', { serverId: 's', siteIds: ['a'], backup: { tries: 0 } }, /backup\.tries: must be a whole number from 1/],
  ['half a try', { serverId: 's', siteIds: ['a'], deploy: { tries: 1.5 } }, /deploy\.tries/],
  ['a negative interval', { serverId: 's', siteIds: ['a'], deploy: { intervalMs: -1 } }, /deploy\.intervalMs/],
  ['a misspelt field', { serverId: 's', siteIds: ['a'], deploys: {} }, /deploys: is not a field/],
  [
    'an unknown evidence',
    { serverId: 's', siteIds: ['a'], deploy: { minEvidence: 'hope' } },
    /deploy\.minEvidence: must be one of/,
  ],
  ...['s ', ' s', '\u00a0s', 's\u3000'].map((serverId): (typeof WRONG)[number] => [
    `a blank around the id ${JSON.stringify(serverId)}`,
    { serverId, siteIds: ['a'] },
    /serverId: begins or ends with a blank/,
  ]),
  [
    'a long note',
    { serverId: 's', siteIds: ['a'], meta: { diff: 'x'.repeat(201) } },
    /meta\.diff: has 201 characters, at most 200 are allowed/,
  ],
  ['long notes', { serverId: 's', siteIds: ['a'], meta: notes(21) }, /meta: has 4\d{3} bytes in all, at most 4096/],
  [
    'a note whose name is that of the prototype',
    { serverId: 's', siteIds: ['a'], meta: JSON.parse('{"__proto__":"x"}') as unknown },
    /^meta\.__proto__: this name is not allowed: use another one$/,
  ],
  ['meta that is not a string', { serverId: 's', siteIds: ['a'], meta: { n: 1 } }, /meta\.n: is not a string/],
];
for (const [what, input, said] of WRONG) {
  test(`a run's input with ${what} is rejected with an error that names the field`, () => {
    assert.match(validateRunInput('backupThenDeploy', input) ?? 'no problem', said);
  });
}

test('a site and an app may have the same id in one run', () => {
  const input = { serverId: 's', targets: [siteTarget('a'), appTarget('a')] };
  assert.equal(validateRunInput('backupThenDeploy', input), null);
});

test('property: outside text becomes one line of at most 200 characters without control characters or half an emoji', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ max: 0xffff, min: 0 }), { maxLength: 500 }), (units) => {
      const text = String.fromCharCode(...units);
      const plain = plainText(text);
      assert.ok([...plain].length <= 200);
      // eslint-disable-next-line no-control-regex -- the test asserts that there are none
      assert.doesNotMatch(plain, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.doesNotMatch(plain, /\p{Surrogate}/u);
      assert.equal(codeSpan(text).slice(1, -1).includes('`'), false);
    }),
  );
});

test('an id that looks shortened never equals the id of another run', () => {
  const shortened = runWorkflowId('deployOnly', { siteIds: ['a'.repeat(200)] }, 'k1');
  const [, site = '', key = ''] = shortened.split(':');
  assert.notEqual(runWorkflowId('deployOnly', { siteIds: [site] }, key), shortened);
});

test('an id is quoted so that it can be pasted into a shell', () => {
  assert.equal(shellWord('deploy:a%20b:k-1'), 'deploy:a%20b:k-1');
  assert.equal(shellWord("deploy:o'brien(1):k"), "'deploy:o'\\''brien(1):k'");
});
