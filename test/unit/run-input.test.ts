import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_WORKFLOW_ID_BYTES, backupServerId, deploySiteId, runWorkflowId } from '../../src/contract/ids/workflow-ids.ts';
import { planOf, problemOfId, problemOfInput } from '../../src/request/validate-run-input.ts';
import { codeSpan, plainText, shellWord } from '../../src/contract/wording/safe-text.ts';

test('ids are encoded part by part', () => {
  assert.equal(
    runWorkflowId('backupThenDeploy', { serverId: 's:1', siteIds: ['a'] }, 'k/1'),
    'backup-then-deploy:s%3A1:k%2F1',
  );
  assert.equal(runWorkflowId('deployOnly', { siteIds: ['a1', 'a2'] }, 'k'), 'deploy:a1:k');
  assert.equal(backupServerId('s1'), 'backup-server:s1');
  assert.equal(deploySiteId('ä'), 'deploy-site:%C3%A4');
});

test('property: an id is at most 200 bytes, and two of them differ', () => {
  const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).filter((text) => problemOfId(text) === null);
  fc.assert(
    fc.property(id, id, (one, other) => {
      const made = deploySiteId(one);
      assert.ok(Buffer.byteLength(made) <= MAX_WORKFLOW_ID_BYTES);
      assert.equal(made === deploySiteId(other), one === other);
    }),
  );
});

test('the defaults are those of the interface', () => {
  const plan = planOf({ serverId: 's1', siteIds: ['a1'] });
  assert.deepEqual(plan.backup, { intervalMs: 15_000, tries: 20, maxAgeMs: null, backupId: null });
  assert.deepEqual(
    [plan.deploy.intervalMs, plan.deploy.tries, plan.deploy.settleMs, plan.deploy.baselineWaitMs],
    [10_000, 30, 60_000, 300_000],
  );
});

test('the settle time is never under ten seconds', () => {
  assert.equal(planOf({ siteIds: ['a'], deploy: { intervalMs: 100 } }).deploy.settleMs, 10_000);
  assert.equal(planOf({ siteIds: ['a'], deploy: { settleMs: 1 } }).deploy.settleMs, 10_000);
});

const WRONG: [what: string, input: unknown, said: RegExp][] = [
  ['no object', null, /not an object/],
  ['no sites', { serverId: 's' }, /siteIds: is not a list/],
  ['an empty list', { serverId: 's', siteIds: [] }, /siteIds: is empty/],
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
  ['a misspelt field', { serverId: 's', siteIds: ['a'], deploys: {} }, /deploys: is no field/],
  [
    'an unknown evidence',
    { serverId: 's', siteIds: ['a'], deploy: { minEvidence: 'hope' } },
    /deploy\.minEvidence: must be one of/,
  ],
  ['meta that is no text', { serverId: 's', siteIds: ['a'], meta: { n: 1 } }, /meta\.n: is not a string/],
];
for (const [what, input, said] of WRONG) {
  test(`a run's input with ${what} is refused in words that name the place`, () => {
    assert.match(problemOfInput('backupThenDeploy', input) ?? 'no problem', said);
  });
}

test('property: text from outside is one line of at most 200 characters without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      const plain = plainText(text);
      assert.ok([...plain].length <= 200);
      // eslint-disable-next-line no-control-regex -- that there are none is what is asserted
      assert.doesNotMatch(plain, /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      assert.equal(codeSpan(text).slice(1, -1).includes('`'), false);
    }),
  );
});

test('an id that looks as if it had been shortened is never that of another run', () => {
  const shortened = runWorkflowId('deployOnly', { siteIds: ['a'.repeat(200)] }, 'k1');
  const [, site = '', key = ''] = shortened.split(':');
  assert.notEqual(runWorkflowId('deployOnly', { siteIds: [site] }, key), shortened);
});

test('an id is written for a shell so that it can be copied', () => {
  assert.equal(shellWord('deploy:a%20b:k-1'), 'deploy:a%20b:k-1');
  assert.equal(shellWord("deploy:o'brien(1):k"), "'deploy:o'\\''brien(1):k'");
});
