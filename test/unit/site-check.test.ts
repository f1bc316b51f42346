import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileCheck, hideAll, type CheckRules } from '../../src/site-check/index.ts';

const page = (change: Partial<{ status: number; headers: Record<string, string>; body: string }> = {}) => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-cache': 'miss', 'x-commit': '3F2C1AB0' },
  body: '{"status":"ok","db":{"pool":4},"version":{"commit":"3f2c1ab0d9"},"note":"ready to serve"}',
  ...change,
});

const HIDE = hideAll([]);

const problem = (rules: CheckRules, change?: Parameters<typeof page>[0]) =>
  compileCheck(rules)(page(change), HIDE).unmet[0]?.text ?? null;

describe('the expectations of a check', () => {
  test('are a status of 2xx, if there are no others', () => {
    assert.equal(problem({}), null);
    assert.equal(problem({}, { status: 204 }), null);
    assert.equal(problem({}, { status: 302 }), 'status 302, expected 2xx');
  });

  test('are any of the given statuses', () => {
    assert.equal(problem({ status: ['200', '401'] }, { status: 401 }), null);
    assert.equal(problem({ status: ['200', '401'] }, { status: 403 }), 'status 403, expected 200 or 401');
  });

  test('compare headers as a whole, whatever the case of their names', () => {
    assert.equal(problem({ header: { 'X-Cache': 'miss' } }), null);
    assert.equal(problem({ header: { 'x-cache': 'mis' } }), 'header x-cache is "miss", expected mis');
    assert.equal(problem({ header: { 'x-age': 'miss' } }), 'header x-age is missing, expected miss');
  });

  test('say not after an exclamation mark, which a missing value meets', () => {
    assert.equal(problem({ header: { 'x-cache': '!hit', 'x-age': '!/./' } }), null);
    assert.equal(problem({ header: { 'x-cache': '!miss' } }), 'header x-cache is "miss", expected !miss');
  });

  test('find a text or an expression in the body, or want it not to be there', () => {
    assert.equal(problem({ body: 'ready' }), null);
    assert.equal(problem({ body: '/"note":"ready.*"/' }), null);
    assert.equal(problem({ body: '/^ready/' }), 'the body does not match /^ready/');
    assert.equal(problem({ body: { not: '/error/' } }), null);
    assert.equal(problem({ body: { not: '/ready/' } }), 'the body does not match !/ready/');
  });

  test('compare JSON values as text, by their path', () => {
    assert.equal(problem({ json: { status: 'ok', 'db.pool': '/^[1-9]/' } }), null);
    assert.equal(problem({ json: { 'db.pool': '5' } }), 'db.pool is "4", expected 5');
    assert.equal(problem({ json: { 'db.size': '5' } }), 'db.size is missing, expected 5');
    assert.equal(problem({ json: { status: 'ok' } }, { body: '<html>' }), 'status is missing, expected ok');
  });

  test('compare numbers of JSON with every digit that the page writes', () => {
    const body = '{"build":20261128123456788,"version":1.10,"release":{"of":12}}';
    assert.equal(
      problem({ json: { build: '20261128123456788', version: '1.10', 'release.of': '12' } }, { body }),
      null,
    );
    const other = problem({ json: { build: '20261128123456789' } }, { body });
    assert.equal(other, 'build is "20261128123456788", expected 20261128123456789');
    assert.equal(problem({ json: { version: '1.1' } }, { body }), 'version is "1.10", expected 1.1');
    assert.equal(
      problem({ json: { build: '/./', 'build.value': '1' } }, { body }),
      'build.value is missing, expected 1',
    );
  });

  test('take the last of two values in JSON that have one name', () => {
    assert.equal(problem({ json: { version: '2' } }, { body: '{"version":1,"version":2}' }), null);
  });

  test('show a long value by whole characters', () => {
    const version = `${'x'.repeat(59)}😀 and more`;
    const found = problem({ json: { version: '2' } }, { body: JSON.stringify({ version }) });
    assert.equal(found, `version is "${'x'.repeat(59)}😀", expected 2`);
  });

  test('are decided in linear time, whatever the expression', () => {
    assert.equal(problem({ body: '/(a+)+$/' }, { body: `${'a'.repeat(60_000)}!` }), 'the body does not match /(a+)+$/');
  });

  test('show the commit from JSON, a header or the body, in lower case', () => {
    const commit = (rules: CheckRules['commit'], body?: string) =>
      compileCheck({ commit: rules })(page(body === undefined ? {} : { body }), HIDE).commit;
    assert.equal(commit({ json: 'version.commit' }), '3f2c1ab0d9');
    assert.equal(commit({ header: 'X-Commit' }), '3f2c1ab0');
    assert.equal(commit({ body: '/commit ([0-9a-f]+)/' }, 'built from commit 0123abc, today'), '0123abc');
  });

  test('show no commit that is not 7 to 64 hex digits', () => {
    const commit = (body: string) => compileCheck({ commit: { body: '/^(.*)$/' } })(page({ body }), HIDE).commit;
    for (const text of ['v1.2-dirty', 'unknown', '3f2c1a', 'g'.repeat(8), 'a'.repeat(65), ''])
      assert.equal(commit(text), null, text);
    assert.equal(commit('a'.repeat(64)), 'a'.repeat(64));
  });

  test('say what stands in the place of a commit, and quote nothing of a body', () => {
    const why = (rules: CheckRules['commit'], version: string) =>
      compileCheck({ commit: rules })(
        page({ body: JSON.stringify({ version }), headers: { 'x-commit': version } }),
        HIDE,
      ).noCommit;
    assert.equal(
      why({ json: 'version' }, '3f2c1ab-dirty'),
      'commit: version is "3f2c1ab-dirty", not 7 to 64 hex digits',
    );
    assert.equal(why({ header: 'X-Commit' }, '3f2c1a'), 'commit: header X-Commit is "3f2c1a", not 7 to 64 hex digits');
    assert.equal(why({ body: '/"(3.*)"/' }, '3f2c1a'), 'commit: the group of /"(3.*)"/ is not 7 to 64 hex digits');
    assert.equal(why({ json: 'commit' }, '3f2c1a'), 'commit: commit is missing');
    assert.equal(why({ json: 'version' }, '3f2c1ab'), null);
    assert.equal(why(undefined, '3f2c1a'), null);
  });

  for (const [what, rules] of Object.entries<CheckRules>({
    'an expression that RE2 does not take': { body: '/(?=a)/' },
    'an expression that is broken': { header: { x: '/(/' } },
    'a commit without a group': { commit: { body: '/commit/' } },
    'a commit with two groups': { commit: { body: '/(a)(b)/' } },
    'a commit that is no expression': { commit: { body: 'commit' } },
  })) {
    test(`reject ${what}`, () => assert.throws(() => compileCheck(rules), SyntaxError));
  }
});
