/** What a job in CI notes on a run without being told: who, commit and job. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ciFacts } from '../../src/config/environment/ci-facts.ts';
import { withFacts } from '../../src/request/input/start-request.ts';
import { MAX_META_ENTRIES } from '../../src/request/limits.ts';
import { notes } from '../../src/request/input/run-input.ts';
import { tempFolder } from '../support/temporal.ts';

const SHA = '3f2c1ab000001111222233334444555566667777';
const FACTS = { by: 'ann', commit: SHA, job: 'https://ci.example/1' };

const GITHUB = {
  ...{ GITHUB_ACTIONS: 'true', GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'acme/shop' },
  ...{ GITHUB_RUN_ID: '7', GITHUB_SHA: SHA, GITHUB_ACTOR: 'ann' },
};
const GITLAB = {
  ...{ GITLAB_CI: 'true', CI_JOB_ID: '8', CI_JOB_URL: 'https://gitlab.example/acme/shop/-/jobs/8' },
  ...{ CI_REPOSITORY_URL: 'https://gitlab.example/acme/shop.git', CI_COMMIT_SHA: SHA, GITLAB_USER_LOGIN: 'ben' },
};

describe('facts from CI', () => {
  test('are who, commit and job, and none outside of CI', () => {
    const github = 'https://github.com/acme/shop/actions/runs/7';
    assert.deepEqual(ciFacts(GITHUB), { by: 'ann', commit: SHA, job: github });
    assert.equal(ciFacts({ ...GITHUB, GITHUB_TRIGGERING_ACTOR: 'again' })['by'], 'again');
    assert.deepEqual(ciFacts(GITLAB), { by: 'ben', commit: SHA, job: GITLAB.CI_JOB_URL });
    assert.deepEqual(ciFacts({ PATH: '/bin', CI: 'true' }), {});
  });

  test('name the head of a pull request, not the commit that GitHub merges for its check', async () => {
    const GITHUB_EVENT_PATH = join(await tempFolder(), 'event.json');
    writeFileSync(GITHUB_EVENT_PATH, JSON.stringify({ pull_request: { head: { sha: 'a'.repeat(40) } } }));
    const facts = ciFacts({ ...GITHUB, GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH });
    assert.equal(facts['commit'], 'a'.repeat(40));
  });

  test('stop no deployment: they are missing where an event cannot be read or an address has a password', () => {
    assert.deepEqual(ciFacts({ ...GITHUB, GITHUB_EVENT_NAME: 'pull_request' }), {});
    assert.equal(ciFacts({ ...GITLAB, CI_JOB_URL: 'https://bot:canary@gitlab.example/8' })['job'], undefined);
    assert.equal(ciFacts({ ...GITLAB, CI_JOB_URL: 'javascript:alert(1)' })['job'], undefined);
  });

  test('lose to the notes that are given', () => {
    assert.deepEqual(withFacts({ commit: 'mine', team: 'web' }, FACTS), { ...FACTS, commit: 'mine', team: 'web' });
    assert.deepEqual(withFacts(undefined, FACTS), FACTS);
    // As of a variable that is not set.
    assert.deepEqual(withFacts({ by: '' }, FACTS), FACTS);
    assert.equal(withFacts(undefined, {}), undefined);
    assert.deepEqual(withFacts({}, {}), {});
  });

  test('are left out where they would break a limit of notes, and a given note never is', () => {
    const many = Object.fromEntries(Array.from({ length: MAX_META_ENTRIES - 1 }, (_, n) => [`n${n}`, 'x']));
    assert.deepEqual(withFacts(many, FACTS), { ...many, by: 'ann' });
    const large = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${n}`, 'x'.repeat(200)]));
    const filled = withFacts(large, FACTS) ?? {};
    assert.deepEqual(filled, { ...large, by: FACTS.by, job: FACTS.job });
    assert.ok(notes.safeParse(filled).success);
    assert.deepEqual(withFacts({}, { ...FACTS, job: `https://ci.example/${'1'.repeat(200)}` }), {
      by: 'ann',
      commit: SHA,
    });
  });

  test('keep a given note that is cut, and the message about notes that are too many', () => {
    assert.equal(withFacts({ text: 'x'.repeat(300) }, FACTS)?.['text']?.length, 200);
    const over = Object.fromEntries(Array.from({ length: MAX_META_ENTRIES + 1 }, (_, n) => [`n${n}`, 'x']));
    assert.deepEqual(withFacts(over, FACTS), over);
  });
});
