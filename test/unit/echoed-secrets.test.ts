/** What is kept of an answer that repeats secrets of its request. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hideAll, hideSecret, holdsSecret } from '../../src/echo/index.ts';

const SECRET = 'canary/7f+3a9b"2c5d\\e==';

describe('a secret that an answer repeats', () => {
  for (const [spelling, echo] of Object.entries({
    'as it is': SECRET,
    'in JSON': JSON.stringify(SECRET).slice(1, -1),
    'in JSON with escaped slashes': JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/'),
    'in JSON with escapes only': [...SECRET].map((it) => `\\u00${it.charCodeAt(0).toString(16)}`).join(''),
    'in a URL': encodeURIComponent(SECRET),
    'in a URL, in lower case': encodeURIComponent(SECRET).toLowerCase(),
    'in a URL that leaves more as it is': encodeURI(SECRET),
    'in upper case': SECRET.toUpperCase(),
  }))
    test(`is hidden ${spelling}`, () => {
      assert.equal(hideSecret(`by ${echo}, which`, SECRET, '[token]'), 'by [token], which');
      assert.ok(holdsSecret(`x-${echo}`, SECRET));
    });

  for (const [what, value, parts] of [
    ['a header', 'canary-7f3a9b', ['canary-7f3a9b']],
    ['a scheme', 'Bearer canary-7f3a9b', ['Bearer canary-7f3a9b', 'canary-7f3a9b']],
    ['a short secret after a scheme', 'Bearer abcd', ['Bearer abcd', 'abcd']],
    ['a cookie', 'session=canary-7f3a9b; theme=dark', ['canary-7f3a9b']],
    ['a scheme with names', 'Token token="canary-7f3a9b", of=shop', ['canary-7f3a9b']],
    [
      'a login',
      `Basic ${Buffer.from('shop:canary-7f3a9b').toString('base64')}`,
      ['shop:canary-7f3a9b', 'canary-7f3a9b'],
    ],
  ] as const)
    test(`is hidden as a part of ${what}`, () => {
      for (const part of [...parts, value]) {
        const shown = hideAll([value]).text(`"${part}" is over`);
        for (const secret of parts) assert.ok(!shown.includes(secret), shown);
        assert.match(shown, /^"\[hidden\]" is over$/);
      }
    });
});

describe('a text without a secret', () => {
  test('stays as it is, also beside headers that are ordinary words', () => {
    const { text } = hideAll(['1', 'true', 'k', 'de', 'shop']);
    assert.equal(text('ok is "true", 1 of 10 workshops, de'), 'ok is "true", 1 of 10 workshops, de');
  });
});

test('a commit that is a secret of the request, or was cut from one, is no commit', () => {
  const { id } = hideAll(['Bearer 0123ABCDEF0123456789']);
  for (const echo of ['0123abcdef0123456789', '0123abcd', 'ff0123abcdef0123456789ff']) assert.equal(id(echo), null);
  assert.equal(id('3f2c1ab'), '3f2c1ab');
});
